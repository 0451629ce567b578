// The package has no types.
declare module "asl-validator" {
  const validate: (definition: unknown) => { isValid: boolean; errorsText: (separator: string) => string };
  export default validate;
}
