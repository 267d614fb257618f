// The next planned time and the newest runs of the triggers on a page of the list.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import type { Run } from './trigger-types.ts'

type NewestRun = Pick<Run, 'id' | 'scheduledAt' | 'outcome' | 'environment'>
type TriggerState = {
  readonly next: { readonly nextRuns: readonly string[] }
  readonly runs: readonly NewestRun[]
}

/** Enough for the newest run of each environment, unless a person starts many runs in one of them. */
const maxRuns = 20
/** A page of 100 triggers takes ten requests, so the list is less current than the runs of one trigger. */
const refetchMs = 30_000
const fields = {
  next: 'trigger(id: $id) { nextRuns(count: 1) }',
  runs: `triggerRuns(trigger: $id, limit: ${maxRuns}) { id scheduledAt outcome environment { id name protected } }`,
}

export type TriggerStates = {
  readonly data: ReadonlyMap<string, TriggerState> | undefined
  readonly isLoading: boolean
}

export function useTriggerStates(rows: readonly { readonly id: string }[]): TriggerStates {
  const ids = useMemo(() => rows.map(({ id }) => id), [rows])
  return useBatchedReads<TriggerState>({ name: 'trigger-states', ids, fields, refetchMs })
}

/** Returns the newest run of each environment, in the order of the environments. */
export function listNewestRuns<One extends NewestRun>(
  runs: readonly One[],
  environments: readonly { readonly id: string; readonly sortOrder: number }[],
): readonly One[] {
  const ordered = environments.toSorted((a, b) => a.sortOrder - b.sortOrder)
  return ordered.flatMap(({ id }) => runs.find(({ environment }) => environment.id === id) ?? [])
}
