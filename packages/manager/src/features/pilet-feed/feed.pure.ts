// What a feed says of a package. Pure.
import { statementOf } from '../../platform/inputs/package-statement.ts'

export type FeedPackage = {
  name: string
  version: string
  /** SHA-256 of the bytes, as hex digits. */
  hash: string
  spec: string
  /** As hex digits; null together with the key's id where the version is not signed. */
  signature: string | null
  keyId: string | null
  /** As hex digits, by the same key; null where the key has signed no statement about the version. */
  statementSignature: string | null
}
type Place = { applicationId: string; projectId: string }

/** The feed, with items in the order given. */
export const feedOf = (place: Place, packages: readonly FeedPackage[]): object => ({
  items: packages.map((one) => itemOf(place, one)),
})

function itemOf(place: Place, one: FeedPackage): object {
  const { name, version, hash, spec, signature, keyId, statementSignature } = one
  return {
    name,
    version,
    link: linkOf(place, name, version),
    hash,
    ...(signature === null ? {} : { signature: inBase64(signature), keyId }),
    spec,
    integrity: `sha256-${inBase64(hash)}`,
    ...(statementSignature === null
      ? {}
      : {
          statement: statementOf({ projectId: place.projectId, name, version, hash }),
          statementSignature: inBase64(statementSignature),
        }),
  }
}

/** The address of a bundle, without a host: browsers ask the one their page came from. */
const linkOf = ({ applicationId, projectId }: Place, name: string, version: string): string =>
  `/pilet-bundle/${applicationId}/${projectId}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`

const inBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
