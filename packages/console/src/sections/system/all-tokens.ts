// The personal access tokens of all people. The API returns them newest first and cannot filter them.
import { type GrowingRows, useGrowingRows } from '../../api/growing-rows.ts'
import { useRead } from '../../api/requests.ts'
import type { OwnedToken } from '../../app/token-state.ts'
import { systemTokenCountDocument, systemTokensDocument } from '../../generated/documents.ts'

/** A step reads at most this many tokens. */
export const tokensPerStep = 1_000
const tokensPerPage = 100

export type AllTokens = GrowingRows<OwnedToken> & { readonly total: number | undefined }

/** Reads the newest tokens, and older ones with every `readMore`. */
export function useAllTokens({ isEnabled = true } = {}): AllTokens {
  const tokens = useGrowingRows(
    {
      document: systemTokensDocument,
      variables: {},
      select: (result) => result.tokens,
      maxPages: tokensPerStep / tokensPerPage,
    },
    { isEnabled },
  )
  const count = useRead(systemTokenCountDocument, {}, { isEnabled: isEnabled && tokens.hasMore })
  return { ...tokens, total: count.data?.personalAccessTokens.totalCount }
}
