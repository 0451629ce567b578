// The actions that CloudFormation needs for each type of resource, and whether the policy of docs/deploy.md, "Who may deploy", allows them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ACCOUNT } from "../../infra/local/template/resolve.ts";
import { stackName } from "../../infra/settings.ts";

/** The actions that CloudFormation needs to create, change, read and delete a resource of each type, according to AWS's schemas. */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGateway::Account": ["apigateway:GET", "apigateway:PATCH", "iam:PassRole"],
  "AWS::ApiGateway::Deployment": ["apigateway:POST", "apigateway:PATCH", "apigateway:GET", "apigateway:DELETE"],
  "AWS::ApiGateway::RestApi": [
    "apigateway:POST",
    "apigateway:PATCH",
    "apigateway:PUT",
    "apigateway:GET",
    "apigateway:DELETE",
    "iam:PassRole",
  ],
  "AWS::ApiGateway::Stage": [
    "apigateway:POST",
    "apigateway:PATCH",
    "apigateway:GET",
    "apigateway:DELETE",
    "logs:CreateLogDelivery",
    "logs:PutResourcePolicy",
    "logs:DescribeLogGroups",
  ],
  "AWS::CloudFront::Distribution": [
    "cloudfront:CreateDistribution",
    "cloudfront:UpdateDistribution",
    "cloudfront:GetDistribution",
    "cloudfront:GetDistributionConfig",
    "cloudfront:DeleteDistribution",
    "cloudfront:TagResource",
    "cloudfront:UntagResource",
    "cloudfront:ListTagsForResource",
    "acm:DescribeCertificate",
  ],
  "AWS::CloudFront::Function": [
    "cloudfront:CreateFunction",
    "cloudfront:PublishFunction",
    "cloudfront:UpdateFunction",
    "cloudfront:DescribeFunction",
    "cloudfront:GetFunction",
    "cloudfront:DeleteFunction",
  ],
  "AWS::CloudFront::OriginAccessControl": [
    "cloudfront:CreateOriginAccessControl",
    "cloudfront:GetOriginAccessControl",
    "cloudfront:UpdateOriginAccessControl",
    "cloudfront:DeleteOriginAccessControl",
  ],
  "AWS::CloudFront::ResponseHeadersPolicy": [
    "cloudfront:CreateResponseHeadersPolicy",
    "cloudfront:GetResponseHeadersPolicy",
    "cloudfront:UpdateResponseHeadersPolicy",
    "cloudfront:DeleteResponseHeadersPolicy",
  ],
  "AWS::CloudWatch::Alarm": [
    "cloudwatch:PutMetricAlarm",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:DeleteAlarms",
    "cloudwatch:TagResource",
  ],
  "AWS::DynamoDB::GlobalTable": [
    "dynamodb:CreateTable",
    "dynamodb:CreateTableReplica",
    "dynamodb:DescribeTable",
    "dynamodb:DescribeContinuousBackups",
    "dynamodb:DescribeTimeToLive",
    "dynamodb:UpdateTable",
    "dynamodb:UpdateTimeToLive",
    "dynamodb:UpdateContinuousBackups",
    "dynamodb:UpdateContributorInsights",
    "dynamodb:ListTagsOfResource",
    "dynamodb:TagResource",
    "dynamodb:UntagResource",
    "dynamodb:GetResourcePolicy",
    "dynamodb:DeleteTable",
    "application-autoscaling:DescribeScalableTargets",
    "application-autoscaling:DescribeScalingPolicies",
    "kms:DescribeKey",
    "cloudwatch:PutMetricData",
    "iam:CreateServiceLinkedRole",
  ],
  "AWS::Events::Rule": [
    "events:PutRule",
    "events:DescribeRule",
    "events:PutTargets",
    "events:RemoveTargets",
    "events:DeleteRule",
    "events:TagResource",
  ],
  "AWS::IAM::Policy": ["iam:PutRolePolicy", "iam:GetRolePolicy", "iam:DeleteRolePolicy"],
  "AWS::IAM::Role": [
    "iam:CreateRole",
    "iam:GetRole",
    "iam:UpdateRole",
    "iam:UpdateRoleDescription",
    "iam:UpdateAssumeRolePolicy",
    "iam:PutRolePolicy",
    "iam:DeleteRolePolicy",
    "iam:ListRolePolicies",
    "iam:ListAttachedRolePolicies",
    "iam:AttachRolePolicy",
    "iam:DetachRolePolicy",
    "iam:TagRole",
    "iam:UntagRole",
    "iam:DeleteRole",
  ],
  "AWS::KMS::Key": [
    "kms:CreateKey",
    "kms:DescribeKey",
    "kms:EnableKeyRotation",
    "kms:GetKeyPolicy",
    "kms:GetKeyRotationStatus",
    "kms:ListResourceTags",
    "kms:PutKeyPolicy",
    "kms:TagResource",
    "kms:UpdateKeyDescription",
    "kms:ScheduleKeyDeletion",
  ],
  "AWS::Lambda::EventInvokeConfig": [
    "lambda:PutFunctionEventInvokeConfig",
    "lambda:GetFunctionEventInvokeConfig",
    "lambda:UpdateFunctionEventInvokeConfig",
    "lambda:DeleteFunctionEventInvokeConfig",
  ],
  "AWS::Lambda::Function": [
    "lambda:CreateFunction",
    "lambda:GetFunction",
    "lambda:GetFunctionConfiguration",
    "lambda:UpdateFunctionCode",
    "lambda:UpdateFunctionConfiguration",
    "lambda:GetRuntimeManagementConfig",
    "lambda:GetFunctionCodeSigningConfig",
    "lambda:GetLayerVersion",
    "lambda:TagResource",
    "lambda:UntagResource",
    "lambda:DeleteFunction",
    "iam:PassRole",
    "s3:GetObject",
    "s3:GetObjectVersion",
  ],
  "AWS::Lambda::LayerVersion": [
    "lambda:PublishLayerVersion",
    "lambda:GetLayerVersion",
    "lambda:DeleteLayerVersion",
    "s3:GetObject",
  ],
  "AWS::Lambda::Permission": ["lambda:AddPermission", "lambda:GetPolicy", "lambda:RemovePermission"],
  "AWS::Logs::LogGroup": [
    "logs:CreateLogGroup",
    "logs:DescribeLogGroups",
    "logs:PutRetentionPolicy",
    "logs:TagResource",
    "logs:UntagResource",
    "logs:ListTagsForResource",
    "logs:DescribeIndexPolicies",
    "logs:GetDataProtectionPolicy",
    "logs:DeleteLogGroup",
  ],
  "AWS::Logs::MetricFilter": ["logs:PutMetricFilter", "logs:DescribeMetricFilters", "logs:DeleteMetricFilter"],
  "AWS::S3::Bucket": [
    "s3:CreateBucket",
    "s3:DeleteBucket",
    "s3:ListBucket",
    "s3:PutBucketTagging",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketOwnershipControls",
    "s3:PutEncryptionConfiguration",
    "s3:PutLifecycleConfiguration",
    "s3:PutBucketVersioning",
    "s3:PutBucketLogging",
    "s3:PutBucketCORS",
    "s3:GetEncryptionConfiguration",
    "s3:GetLifecycleConfiguration",
    "s3:GetBucketVersioning",
    "s3:GetBucketLogging",
  ],
  "AWS::S3::BucketPolicy": ["s3:PutBucketPolicy", "s3:GetBucketPolicy", "s3:DeleteBucketPolicy"],
  "AWS::SecretsManager::Secret": [
    "secretsmanager:CreateSecret",
    "secretsmanager:DescribeSecret",
    "secretsmanager:GetRandomPassword",
    "secretsmanager:GetSecretValue",
    "secretsmanager:UpdateSecret",
    "secretsmanager:TagResource",
    "secretsmanager:UntagResource",
    "secretsmanager:DeleteSecret",
  ],
  "AWS::SNS::Subscription": [
    "sns:Subscribe",
    "sns:GetSubscriptionAttributes",
    "sns:SetSubscriptionAttributes",
    "sns:Unsubscribe",
  ],
  "AWS::SNS::Topic": [
    "sns:CreateTopic",
    "sns:GetTopicAttributes",
    "sns:SetTopicAttributes",
    "sns:ListSubscriptionsByTopic",
    "sns:ListTagsForResource",
    "sns:TagResource",
    "sns:DeleteTopic",
  ],
  "AWS::SNS::TopicPolicy": ["sns:SetTopicAttributes", "sns:GetTopicAttributes"],
  "AWS::SQS::Queue": [
    "sqs:CreateQueue",
    "sqs:GetQueueAttributes",
    "sqs:SetQueueAttributes",
    "sqs:ListQueueTags",
    "sqs:TagQueue",
    "sqs:DeleteQueue",
  ],
  "AWS::SQS::QueuePolicy": ["sqs:SetQueueAttributes", "sqs:GetQueueAttributes"],
  "AWS::StepFunctions::StateMachine": [
    "states:CreateStateMachine",
    "states:DescribeStateMachine",
    "states:UpdateStateMachine",
    "states:ListTagsForResource",
    "states:TagResource",
    "states:UntagResource",
    "states:DeleteStateMachine",
    "iam:PassRole",
  ],
  "AWS::XRay::SamplingRule": [
    "xray:CreateSamplingRule",
    "xray:UpdateSamplingRule",
    "xray:GetSamplingRules",
    "xray:DeleteSamplingRule",
    "xray:TagResource",
  ],
  "Custom::CDKBucketDeployment": ["lambda:InvokeFunction"],
  "Custom::S3AutoDeleteObjects": ["lambda:InvokeFunction"],
};

const file = join(import.meta.dirname, "../../infra/deployment-policy.json");
const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const Policy = z.strictObject({
  Version: z.literal("2012-10-17"),
  Statement: z.array(z.strictObject({ Sid: z.string(), Effect: z.literal("Allow"), Action: oneOrMore, Resource: oneOrMore })),
});
const policy = Policy.parse(JSON.parse(readFileSync(file, "utf8")));

const matches = (pattern: string, text: string): boolean => new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text);
/** The policy has only Allow statements without conditions. */
export const allows = (action: string, resource: string): boolean =>
  policy.Statement.some(
    ({ Action, Resource }) =>
      Action.some((pattern) => matches(pattern, action)) && Resource.some((pattern) => matches(pattern, resource)),
  );
export const resourceOf = (action: string): string =>
  action === "iam:CreateServiceLinkedRole"
    ? `arn:aws:iam::${ACCOUNT}:role/aws-service-role/replication.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBReplication`
    : action.startsWith("iam:")
      ? `arn:aws:iam::${ACCOUNT}:role/${stackName("live")}-functions-1A2B3C`
      : "*";
