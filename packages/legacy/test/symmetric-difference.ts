/** Returns the strings that only one of the two lists contains. */
export function symmetricDifference(
  what: string,
  wanted: readonly string[],
  found: readonly string[],
): string[] {
  const [wants, has] = [new Set(wanted), new Set(found)]
  return [
    ...[...wants].filter((text) => !has.has(text)).map((text) => `${what} missing: ${text}`),
    ...[...has].filter((text) => !wants.has(text)).map((text) => `${what} not expected: ${text}`),
  ]
}
