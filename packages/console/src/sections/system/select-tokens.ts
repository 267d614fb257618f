// Selects and orders tokens that the page has read, because the API can neither filter nor order the whole list.
import { type OwnedToken, isUsable } from '../../app/token-state.ts'
import type { Sort } from '../../kit/data-table.tsx'

export const tokenStatuses = ['any', 'usable', 'unusable'] as const
export type TokenFilter = {
  /** Part of the name or e-mail of the person, of the name of the token, or of its first characters. */
  readonly text: string
  readonly status: (typeof tokenStatuses)[number]
}

const describeToken = ({ name, tokenPrefix, user }: OwnedToken): string =>
  [name, `pat_${tokenPrefix}`, user.externalName, user.externalUsername, user.externalEmail]
    .join('\n')
    .toLocaleLowerCase()

export function filterTokens(
  tokens: readonly OwnedToken[],
  { text, status }: TokenFilter,
  now: number,
): readonly OwnedToken[] {
  const wanted = text.toLocaleLowerCase()
  return tokens.filter(
    (token) =>
      describeToken(token).includes(wanted) &&
      (status === 'any' || isUsable(token, now) === (status === 'usable')),
  )
}

const sortValues: Readonly<Record<string, (token: OwnedToken) => string | null>> = {
  name: ({ name }) => name,
  person: ({ user }) => user.externalName || user.externalUsername,
  lastUsedAt: ({ lastUsedAt }) => lastUsedAt,
  expiresAt: ({ expiresAt }) => expiresAt,
  createdAt: ({ createdAt }) => createdAt,
}

/** Orders tokens by a column; tokens without a value come last. An unknown column leaves the order unchanged. */
export function sortTokens(tokens: readonly OwnedToken[], sort: Sort | null): readonly OwnedToken[] {
  const read = sortValues[sort?.field ?? '']
  if (sort === null || read === undefined) return tokens
  const factor = sort.direction === 'ASC' ? 1 : -1
  return tokens.toSorted((a, b) => {
    const [first, second] = [read(a), read(b)]
    if (first === null || second === null) return Number(first === null) - Number(second === null)
    return factor * first.localeCompare(second)
  })
}
