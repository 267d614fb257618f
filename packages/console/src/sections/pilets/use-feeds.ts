// Facts about versions that only feeds contain: the applications that load a version, and its signature.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { useApplicationNames } from '../../app/applications.ts'

/** The feeds of more applications are not read, because each feed can be large. */
const maxApplications = 20

type FeedItem = { readonly name: string; readonly version: string; readonly keyId: string | null }
type Feeds = { readonly feed: readonly FeedItem[] }
export type FeedFacts = {
  /** The key that signed the version; null if the version is not signed. */
  readonly keyId: string | null
  /** The applications whose feed for all tenants contains the version. */
  readonly applications: readonly string[]
}

const toKey = (name: string, version: string): string => `${name} ${version}`

/** Returns a function that finds the facts about a version; undefined until the feeds are read. */
export function useFeeds(): ((version: Pick<FeedItem, 'name' | 'version'>) => FeedFacts | null) | undefined {
  const names = useApplicationNames()
  const applications = useMemo(
    () => names.data?.rows.slice(0, maxApplications).map(({ id, name }) => ({ id, name })) ?? [],
    [names.data],
  )
  const { data, error } = useBatchedReads<Feeds>({
    name: 'piletFeeds',
    ids: applications.map(({ id }) => id),
    fields: { feed: 'piletFeedPreview(applicationId: $id) { name version keyId }' },
  })
  return useMemo(() => {
    const isEmpty = names.data !== undefined && applications.length === 0
    // The list is usable without these facts, so a failure leaves them out.
    const isSettled = isEmpty || error !== null || names.error !== null
    if (data === undefined && !isSettled) return undefined
    const facts = new Map<string, FeedFacts>()
    for (const { id, name: application } of applications)
      for (const { name, version, keyId } of data?.get(id)?.feed ?? []) {
        const key = toKey(name, version)
        const others = facts.get(key)?.applications ?? []
        facts.set(key, { keyId, applications: [...others, application] })
      }
    return ({ name, version }) => facts.get(toKey(name, version)) ?? null
  }, [data, error, applications, names.data, names.error])
}
