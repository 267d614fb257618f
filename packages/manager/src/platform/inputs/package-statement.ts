// The statement about a package: a signature over its bytes alone does not say which package they are. Pure.

/** `hash` is the SHA-256 of the bytes, in lower-case hex digits. */
export type StatedPackage = { projectId: string; name: string; version: string; hash: string }

const firstBytes = Buffer.from('{"svcPiletStatement":')

/** The text that is signed. Whoever verifies it writes it again from what they expect, and compares. */
export const statementOf = ({ projectId, name, version, hash }: StatedPackage): string =>
  JSON.stringify({ svcPiletStatement: 1, project: projectId, name, version, hash })

/**
 * Whether bytes begin like a statement. Bundles and statements are signed with the same key, so a signed bundle of this form
 * would be a signed statement about any package that its uploader likes.
 */
export const isStatement = (bytes: Buffer): boolean => bytes.subarray(0, firstBytes.length).equals(firstBytes)
