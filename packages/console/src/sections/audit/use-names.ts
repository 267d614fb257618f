// The current names of the objects that entries refer to by their ids.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { isUuid } from '../../app/ids.ts'
import type { SearchHit } from '../../app/search-targets.ts'

/** Undefined while the names load. An object that was deleted or is not visible to the caller has no entry. */
export type Names = ReadonlyMap<string, SearchHit> | undefined

// A search by id finds objects of every kind. For a deleted object, it finds nothing, whereas a query for the object
// would fail.
const kinds = [
  'project',
  'tenant',
  'application',
  'environment',
  'endpoint',
  'trigger',
  'triggerRun',
  'machineUser',
  'languagePack',
  'piletPackage',
  'user',
]
const found = `search(text: $id, kinds: ${JSON.stringify(kinds)}, limit: 1) { hits { kind id title subtitle matchedField projectId applicationId environmentId endpointId triggerId } }`

export function useNames(ids: readonly string[]): Names {
  const wanted = [...new Set(ids)].filter(isUuid).toSorted()
  const { data, error } = useBatchedReads<{ found: { hits: readonly SearchHit[] } }>({
    name: 'object-names',
    ids: wanted,
    idType: 'String!',
    fields: { found },
  })
  const isKnown = data !== undefined || error !== null || wanted.length === 0
  return useMemo(
    () =>
      isKnown
        ? new Map(
            [...(data ?? [])].flatMap(
              ([
                id,
                {
                  found: { hits },
                },
              ]) => hits.map((hit) => [id, hit] as const),
            ),
          )
        : undefined,
    [data, isKnown],
  )
}
