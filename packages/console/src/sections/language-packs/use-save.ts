// Saves the edits in as few requests as possible. A request is rejected if another person has changed one of its packs;
// then the edits are compared with the new contents, key by key, and only edits of the same keys need a decision.
import { graphql } from '@manager/client'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { connection } from '../../api/connection.ts'
import { reportError } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useProject } from '../../app/project.tsx'
import { packSaveDocument } from '../../generated/documents.ts'
import { type Edit, type Limits, applyEdits, isConflict, isPending, splitEdits } from './edits.ts'
import type { Content, Contents } from './pack-types.ts'
import type { Draft } from './use-edits.ts'
import { cacheContent, readCachedContents, refetchContents, refetchList } from './use-packs.ts'

/** The API changes 1,000 keys in 100 packs of 16 MiB. Many proxies accept a request body of 1 MiB. */
const limits: Limits = { keys: 1_000, packs: 100, bytes: 900_000, contentBytes: 15_000_000 }
const maxAttempts = 4
const maxConflicts = 100

export type Conflict = {
  /** Counts conflicts, so that each conflict starts without decisions. */
  readonly number: number
  readonly changedBy: string | null
  readonly edits: readonly Edit[]
  readonly contents: Contents
}
export type Save = {
  /** The number of edits that are saved, while a request runs. */
  readonly progress: { readonly done: number; readonly total: number } | null
  readonly failure: Failure | null
  readonly conflict: Conflict | null
  /** Saves edits. Resolves to the number of saved edits if all are saved, and otherwise to null. */
  readonly run: (edits: readonly Edit[]) => Promise<number | null>
  /** Clears the failure and the conflict; the edits stay. */
  readonly reset: () => void
}

const listPackIds = (edits: readonly Edit[]): string[] => [...new Set(edits.map(({ packId }) => packId))]

/** Returns the size of a content as the API stores it. */
const countContentBytes = (content: Content | undefined): number =>
  new TextEncoder().encode(
    JSON.stringify([...(content?.values ?? [])].map(([Key, Value]) => ({ Key, Value }))),
  ).length

const toInput = (edits: readonly Edit[], contents: Contents) =>
  listPackIds(edits).map((packId) => {
    const own = edits.filter((edit) => edit.packId === packId)
    return {
      packId,
      set: own.flatMap(({ key, value }) => (value === null ? [] : [{ Key: key, Value: value }])),
      unset: own.flatMap(({ key, value }) => (value === null ? [key] : [])),
      expectedRevision: contents.get(packId)?.revision ?? null,
    }
  })

type Sent = { readonly edits: readonly Edit[]; readonly onSent: (count: number) => void }

/** Sends edits, and stores the new contents in the cache. */
async function send(
  client: QueryClient,
  project: string,
  edits: readonly Edit[],
  remove: Draft['remove'],
): Promise<void> {
  const contents = readCachedContents(client, listPackIds(edits))
  const changes = toInput(edits, contents)
  const { setLanguagePackKeys: packs } = await graphql(connection, packSaveDocument, { project, changes })
  for (const { id, revision } of packs) {
    const values = contents.get(id)?.values ?? new Map<string, string>()
    const own = edits.filter(({ packId }) => packId === id)
    cacheContent(client, id, { revision, values: applyEdits(values, own) })
  }
  remove(edits)
}

/** Returns a function that sends the edits that are not saved yet, or returns the conflicting ones. */
function useAttempt(remove: Draft['remove']) {
  const { id: project } = useProject()
  const client = useQueryClient()
  return async ({ edits, onSent }: Sent): Promise<readonly Edit[]> => {
    const contents = readCachedContents(client, listPackIds(edits))
    const pending = edits.filter((edit) => isPending(edit, contents))
    const conflicts = pending.filter((edit) => isConflict(edit, contents))
    if (conflicts.length > 0) return conflicts
    let done = edits.length - pending.length
    const getBytes = (id: string): number => countContentBytes(contents.get(id))
    for (const part of splitEdits(pending, limits, getBytes)) {
      await send(client, project, part, remove)
      done += part.length
      onSent(done)
    }
    return []
  }
}

export function useSave({ remove }: Pick<Draft, 'remove'>): Save {
  const client = useQueryClient()
  const attempt = useAttempt(remove)
  const [progress, setProgress] = useState<Save['progress']>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const reset = (): void => {
    setFailure(null)
    setConflict(null)
  }
  const save = async (edits: readonly Edit[]): Promise<number | null> => {
    const ids = listPackIds(edits)
    const onSent = (done: number): void => setProgress({ done, total: edits.length })
    let changedBy: string | null = null
    for (let count = 1; ; count++)
      try {
        const conflicts = await attempt({ edits, onSent })
        if (conflicts.length === 0) {
          // Another person can have saved some of the same texts.
          remove(edits)
          return edits.length
        }
        setConflict((previous) => ({
          number: (previous?.number ?? 0) + 1,
          changedBy,
          edits: conflicts.slice(0, maxConflicts),
          contents: readCachedContents(client, ids),
        }))
        return null
      } catch (error) {
        const described = describeFailure(error, { isChange: true })
        if (described.kind !== 'conflict' || count === maxAttempts) throw error
        changedBy = described.changedBy
        await refetchContents(client, ids)
      }
  }
  const run = async (edits: readonly Edit[]): Promise<number | null> => {
    if (progress !== null) return null
    setProgress({ done: 0, total: edits.length })
    reset()
    try {
      return await save(edits)
    } catch (error) {
      reportError(error)
      setFailure(describeFailure(error, { isChange: true }))
      return null
    } finally {
      setProgress(null)
      void refetchList(client)
    }
  }
  return { progress, failure, conflict, run, reset }
}
