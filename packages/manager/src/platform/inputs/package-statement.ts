// The signed statement about a package: a signature over its bytes does not say which package they belong to. Pure.

/** `hash` is the SHA-256 of the bytes, in lower-case hex digits. */
export type PackageStatement = { projectId: string; name: string; version: string; hash: string }

const firstBytes = Buffer.from('{"svcPiletStatement":')

/** Returns the text to sign. A verifier builds it again from the expected values, and compares. */
export const statementOf = ({ projectId, name, version, hash }: PackageStatement): string =>
  JSON.stringify({ svcPiletStatement: 1, project: projectId, name, version, hash })

/**
 * Returns whether the bytes start like a statement. Bundles and statements are signed with the same key. A signed
 * bundle of this form would be a statement about any package that its uploader chooses.
 */
export const isStatement = (bytes: Buffer): boolean => bytes.subarray(0, firstBytes.length).equals(firstBytes)
