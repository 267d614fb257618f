// The signed statement that binds the bytes of a package to its name and version. A signature on the bytes alone would
// not bind them.

/** `hash` is the SHA-256 of the bytes, in lower-case hex digits. */
export type PackageStatement = { projectId: string; name: string; version: string; hash: string }

const statementPrefix = Buffer.from('{"svcPiletStatement":')

/**
 * Returns the text to sign. A verifier rebuilds the text from the expected values and compares it with the
 * signed text.
 */
export const formatStatement = ({ projectId, name, version, hash }: PackageStatement): string =>
  JSON.stringify({ svcPiletStatement: 1, project: projectId, name, version, hash })

/**
 * Returns whether the bytes start like a statement. Bundles and statements are signed with the same key. If a
 * signed bundle looked like a statement, it would vouch for any package that its uploader chooses.
 */
export const isStatement = (bytes: Buffer): boolean =>
  bytes.subarray(0, statementPrefix.length).equals(statementPrefix)
