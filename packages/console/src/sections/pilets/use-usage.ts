// Counts the settings layers that enable a pilet or pin a version, for the rows of the list.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { useProject } from '../../app/project.tsx'
import type { PiletVersion } from './pilet-types.ts'

type Entry = { readonly isEnabled: boolean; readonly pinnedVersion: string | null }
type Usage = { readonly usage: { readonly isComplete: boolean; readonly entries: readonly Entry[] } }
export type UsageCount = {
  readonly enabled: number
  readonly pinned: number
  /** Whether more layers exist than the API lists. */
  readonly isComplete: boolean
}

/** Returns a function that counts the layers for a version; undefined until they are read. */
export function useUsage(
  rows: readonly PiletVersion[],
): ((version: PiletVersion) => UsageCount | null) | undefined {
  const { id } = useProject()
  const names = useMemo(() => [...new Set(rows.map(({ name }) => name))], [rows])
  const { data, error } = useBatchedReads<Usage>({
    name: 'piletUsage',
    ids: names,
    idType: 'String!',
    fields: {
      usage: `piletUsage(projectId: "${id}", name: $id) { isComplete entries { isEnabled pinnedVersion } }`,
    },
  })
  return useMemo(() => {
    // The list is usable without the counts, so a failure leaves them out.
    if (data === undefined) return error === null ? undefined : () => null
    return ({ name, version }: PiletVersion) => {
      const usage = data.get(name)?.usage
      if (usage === undefined) return null
      const { entries, isComplete } = usage
      return {
        enabled: entries.filter(({ isEnabled }) => isEnabled).length,
        pinned: entries.filter(({ pinnedVersion }) => pinnedVersion === version).length,
        isComplete,
      }
    }
  }, [data, error])
}
