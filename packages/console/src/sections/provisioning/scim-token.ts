// The tokens of identity providers, as the API returns them.
import type { AccessToken } from '../../app/token-state.ts'
import type { ProvisioningTokensResult } from '../../generated/documents.ts'

export type ScimToken = ProvisioningTokensResult['tokens']['nodes'][number]
/** A token with the fields that the lists of all tokens share. */
export type ListedToken = AccessToken & Pick<ScimToken, 'creator'>

export const toListedToken = ({ revokedAt, ...token }: ScimToken): ListedToken => ({
  ...token,
  revoked: revokedAt !== null,
})

/** The first characters of a token, which identify it without revealing it. */
export const formatScimPrefix = ({ tokenPrefix }: Pick<ScimToken, 'tokenPrefix'>): string => `${tokenPrefix}…`

/** Returns the address that identity providers call. The proxy passes it on the same host as the console. */
export const getScimAddress = (): string => `${location.origin}/scim/v2`
