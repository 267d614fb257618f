import { formatStatement } from '../../platform/inputs/package-statement.ts'

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
   * The hexadecimal signature of the version statement, made with the same key. Null if that key has not
   * signed a statement.
   */
  statementSignature: string | null
  /** Whether a setting pins the version. Feeds do not include this field. */
  isPinned: boolean
}

/** An item as browsers receive it. An unsigned version has none of the optional fields. */
export type FeedItem = {
  name: string
  version: string
  link: string
  hash: string
  signature?: string
  keyId?: string | null
  spec: string
  integrity: string
  statement?: string
  statementSignature?: string
}
type FeedOwner = { applicationId: string; projectId: string }

/** Returns the feed with its items in the given order. */
export const createFeed = (owner: FeedOwner, packages: readonly FeedPackage[]): { items: FeedItem[] } => ({
  items: packages.map((feedPackage) => createItem(owner, feedPackage)),
})

function createItem(owner: FeedOwner, feedPackage: FeedPackage): FeedItem {
  const { name, version, hash, spec, signature, keyId, statementSignature } = feedPackage
  return {
    name,
    version,
    link: createLink(owner, name, version),
    hash,
    ...(signature === null ? {} : { signature: hexToBase64(signature), keyId }),
    spec,
    integrity: `sha256-${hexToBase64(hash)}`,
    ...(statementSignature === null
      ? {}
      : {
          statement: formatStatement({ projectId: owner.projectId, name, version, hash }),
          statementSignature: hexToBase64(statementSignature),
        }),
  }
}

/** Returns the path of a bundle without a host, so that browsers use the origin of their page. */
const createLink = ({ applicationId, projectId }: FeedOwner, name: string, version: string): string =>
  `/pilet-bundle/${applicationId}/${projectId}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`

const hexToBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
