// The services of AWS that act for this stack.
import { Aws } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";

/** A service, on behalf of this account only: nobody else can make it use what the stack grants to it. */
export const serviceForUs = (name: string): ServicePrincipal =>
  new ServicePrincipal(name, { conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } } });
