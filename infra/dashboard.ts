// The front: CloudFront, which serves the dashboard from a bucket and forwards the API's requests.
import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import type { RestApiBase } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersReferrerPolicy,
  OriginRequestPolicy,
  PriceClass,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { RestApiOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { BucketDeployment, CacheControl, Source } from "aws-cdk-lib/aws-s3-deployment";
import { Construct } from "constructs";
import { readLogicalId } from "./function.ts";
import { BASE_PATH } from "../shared/api/base-path.ts";
import { CLIENT_ADDRESS_HEADER, DASHBOARD_ORIGIN_HEADER, ORIGIN_KEY_HEADER } from "../shared/runtime/origin.ts";
import { CACHE_FOR_EVER, CACHE_NOT, contentSecurityPolicy, type DashboardConfig, OTHER_HEADERS } from "./dashboard-headers.ts";
import type { OriginKey } from "./origin-key.ts";
import { stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

/**
 * The fallback's response, for what the API's behavior does not match: `/api` alone, and `/API/v1`, because paths match by case.
 * Only for `GET` and `HEAD`: CloudFront itself rejects the other methods there.
 */
const NOT_FOUND = JSON.stringify({ success: false, error: { code: "NOT_FOUND", message: "No such path" } });

/** The dashboard itself knows its pages: every path that names no file returns it. */
const SHOW_PAGE = `function handler(event) {
  var request = event.request;
  if (/^\\/api(\\/|$)/i.test(request.uri)) {
    var asked = request.headers["x-request-id"];
    var id = asked && /^[A-Za-z0-9._:-]{1,128}$/.test(asked.value) ? asked.value : event.context.requestId;
    return {
      statusCode: 404,
      statusDescription: "Not Found",
      headers: {
        "content-type": { value: "application/json" },
        "cache-control": { value: "no-store" },
        "x-content-type-options": { value: "nosniff" },
        "x-request-id": { value: id },
      },
      body: '${NOT_FOUND}',
    };
  }
  if (request.uri.slice(request.uri.lastIndexOf("/")).indexOf(".") < 0) request.uri = "/index.html";
  return request;
}`;

/**
 * No policy forwards all headers but Host and, with them, the address that CloudFront knows. Where the dashboard is follows from
 * the operator's domain, or CloudFront's own name: a function behind it cannot know that one when it is deployed.
 */
const passOnAddress = (domain: string | undefined) => `function handler(event) {
  event.request.headers["${CLIENT_ADDRESS_HEADER}"] = { value: event.viewer.ip };
  event.request.headers["${DASHBOARD_ORIGIN_HEADER}"] = { value: "https://" + ${domain === undefined ? "event.context.distributionDomainName" : JSON.stringify(domain)} };
  return event.request;
}`;

/** All error statuses that CloudFront caches for ten seconds by default. */
const KEPT_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** The operator's own domain, and its certificate in us-east-1, where CloudFront looks for it. */
export interface OwnDomain {
  name: string;
  certificateArn: string;
}

interface Props {
  environment: Environment;
  rest: RestApiBase;
  /** Sent with every request to the API. */
  originKey: OriginKey;
  /** Folder of the built dashboard; without it the bucket stays empty. */
  files: string | undefined;
  otherDashboard: DashboardConfig["other_dashboard"];
  brand: DashboardConfig["brand"];
  domain: OwnDomain | undefined;
  /** The ARN of a firewall in us-east-1 (edge.ts). */
  webAcl: string | undefined;
  /** What the URLs of archives begin with: the dashboard uploads there. */
  storeUrl: string;
  logGroup: LogGroup;
}

export class Dashboard extends Construct {
  readonly distribution: Distribution;
  /** The dashboard's URL without a trailing slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const bucket = this.bucket();
    this.distribution = this.front(bucket, props);
    this.url = `https://${props.domain?.name ?? this.distribution.domainName}`;
    if (props.files !== undefined) this.deploy(props.files, bucket, props);
  }

  private bucket(): IBucket {
    const bucket = new Bucket(this, "files", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // A deployment can recreate everything in it.
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: true,
    });
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason: "Only CloudFront reads it, and everyone gets the same files",
    });
    // CDK's class and its interface differ in an optional property only, which `exactOptionalPropertyTypes` minds.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return bucket as IBucket;
  }

  private front(bucket: IBucket, { environment, rest, originKey, domain, webAcl, storeUrl }: Props): Distribution {
    const responseHeadersPolicy = this.headers("headers", storeUrl, OTHER_HEADERS);
    const api = { ...this.behaviorOf(rest, originKey, domain), responseHeadersPolicy };
    const distribution = new Distribution(this, "front", {
      comment: stackName(environment),
      defaultRootObject: "index.html",
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket, {
          originAccessControl: new S3OriginAccessControl(this, "access", {
            originAccessControlName: this.nameInAccount("files"),
          }),
        }),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        responseHeadersPolicy,
        functionAssociations: [this.onRequest("show-page", SHOW_PAGE)],
      },
      additionalBehaviors: {
        // The gateway renames the header in a function's response, so the 401 of a wrong password, or of a session that ends
        // during its request, gets it here, and so does every response of these paths.
        [`${BASE_PATH}/auth/*`]: {
          ...api,
          responseHeadersPolicy: this.headers("sign-in-headers", storeUrl, { ...OTHER_HEADERS, "www-authenticate": "Bearer" }),
        },
        "/api/*": api,
      },
      errorResponses: KEPT_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      // Europe and North America; clients elsewhere get the nearest of these.
      ...(webAcl !== undefined && { webAclId: webAcl }),
      priceClass: PriceClass.PRICE_CLASS_100,
      ...(domain !== undefined && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, "certificate", domain.certificateArn),
      }),
    });
    distribution.node.addDependency(...originKey.functions);
    Validations.of(distribution).acknowledge(
      { id: "AwsSolutions-CFR1", reason: "Customers are wherever they are" },
      {
        id: "AwsSolutions-CFR2",
        reason: "The authorizer limits each credential, logging in is limited by address, the stage has a bound",
      },
      {
        id: "AwsSolutions-CFR3",
        reason: "The API's requests are in its stage's access log, and the files are the same for everybody",
      },
      { id: "AwsSolutions-CFR4", reason: "TLS 1.2 with a domain of one's own; CloudFront's own name comes with its own minimum" },
    );
    return distribution;
  }

  /** The API, without the headers that are added to its responses. */
  private behaviorOf(rest: RestApiBase, originKey: OriginKey, domain: OwnDomain | undefined) {
    return {
      origin: new RestApiOrigin(rest, {
        customHeaders: { [ORIGIN_KEY_HEADER]: originKey.sent },
        // The slowest authorizer plus the slowest function; CloudFront's own response would not be in the envelope.
        readTimeout: Duration.seconds(60),
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      // A redirect would come too late: the client has already sent the token unencrypted.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      functionAssociations: [this.onRequest("tell-address", passOnAddress(domain?.name))],
    };
  }

  private onRequest(id: string, code: string) {
    return {
      eventType: FunctionEventType.VIEWER_REQUEST,
      function: new EdgeFunction(this, id, { code: FunctionCode.fromInline(code), runtime: FunctionRuntime.JS_2_0 }),
    };
  }

  /** CloudFront's names are unique in the account, across all regions. */
  private nameInAccount(name: string): string {
    const { stackName: stack, region } = Stack.of(this);
    return `${stack}-${region}-${name}`;
  }

  private headers(id: string, storeUrl: string, otherHeaders: Readonly<Record<string, string>>): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, id, {
      responseHeadersPolicyName: this.nameInAccount(id),
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: contentSecurityPolicy(storeUrl), override: true },
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), includeSubdomains: false, override: true },
      },
      customHeadersBehavior: {
        customHeaders: Object.entries(otherHeaders).map(([header, value]) => ({ header, value, override: true })),
      },
    });
  }

  /** Assets are uploaded before the page that names them; those of the last deployment stay for users who have it open. */
  private deploy(folder: string, bucket: IBucket, { environment, otherDashboard, brand, logGroup }: Props): void {
    const config: DashboardConfig = { environment, other_dashboard: otherDashboard, api_page: null, brand };
    const common = { destinationBucket: bucket, prune: false, retainOnDelete: false, logGroup };
    const assets = new BucketDeployment(this, "assets", {
      ...common,
      sources: [Source.asset(folder)],
      exclude: ["*"],
      include: ["assets/*"],
      cacheControl: [CacheControl.fromString(CACHE_FOR_EVER)],
    });
    const page = new BucketDeployment(this, "page", {
      ...common,
      sources: [Source.asset(folder), Source.jsonData("config.json", config)],
      exclude: ["assets/*"],
      cacheControl: [CacheControl.fromString(CACHE_NOT)],
    });
    page.node.addDependency(assets);
    acknowledgeCopying(assets, bucket);
  }
}

/** The CDK's own function, one per stack, which copies the uploaded files into the bucket. */
function acknowledgeCopying({ handlerRole }: BucketDeployment, bucket: IBucket): void {
  const { scope } = handlerRole.node;
  if (scope === undefined) throw new Error("The role belongs to no function");
  const staging = "arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>";
  const granted = [
    ...["GetObject", "GetBucket", "List", "DeleteObject", "Abort"].map((action) => `Action::s3:${action}*`),
    ...[staging, `<${readLogicalId(bucket)}.Arn>`].map((arn) => `Resource::${arn}/*`),
  ];
  Validations.of(scope).acknowledge(
    ...granted.map((permission) => ({
      id: `AwsSolutions-IAM5[${permission}]`,
      reason: "CDK's own: from where it uploads, into this bucket",
    })),
    {
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
      reason: "CDK's own function, which only writes logs by it",
    },
    { id: "AwsSolutions-L1", reason: "CDK's own function, on the runtime that CDK has tried it with" },
  );
}
