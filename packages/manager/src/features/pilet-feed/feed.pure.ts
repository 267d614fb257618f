import { statementOf } from '../../platform/inputs/package-statement.ts'

export type FeedPackage = {
  name: string
  version: string
  /** The SHA-256 of the bytes in hexadecimal. */
  hash: string
  spec: string
  /** The signature in hexadecimal. Null, like `keyId`, if the version is not signed. */
  signature: string | null
  keyId: string | null
  /**
   * The signature of the statement about the version in hexadecimal, by the same key. Null if that key has not signed
   * one.
   */
  statementSignature: string | null
}
type FeedOwner = { applicationId: string; projectId: string }

/** Returns the feed with its items in the given order. */
export const feedOf = (owner: FeedOwner, packages: readonly FeedPackage[]): object => ({
  items: packages.map((one) => itemOf(owner, one)),
})

function itemOf(owner: FeedOwner, one: FeedPackage): object {
  const { name, version, hash, spec, signature, keyId, statementSignature } = one
  return {
    name,
    version,
    link: linkOf(owner, name, version),
    hash,
    ...(signature === null ? {} : { signature: inBase64(signature), keyId }),
    spec,
    integrity: `sha256-${inBase64(hash)}`,
    ...(statementSignature === null
      ? {}
      : {
          statement: statementOf({ projectId: owner.projectId, name, version, hash }),
          statementSignature: inBase64(statementSignature),
        }),
  }
}

/** Returns the path of a bundle without a host, so that browsers use the origin of their page. */
const linkOf = ({ applicationId, projectId }: FeedOwner, name: string, version: string): string =>
  `/pilet-bundle/${applicationId}/${projectId}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`

const inBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
