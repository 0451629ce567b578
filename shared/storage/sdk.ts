// The parts of the S3 client that the service uses, as one module, so that a bundle holds only these although they are loaded on
// demand.
export {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NoSuchUpload,
  NotFound,
  paginateListParts,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
