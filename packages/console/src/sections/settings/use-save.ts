// Saves the draft. If another person has saved the same settings, this person merges both changes.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reportError } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useProject } from '../../app/project.tsx'
import type { LayersRead } from './use-layers.ts'
import { type Edit, saveEdits } from './save.ts'
import type { Layers } from './layers.ts'
import { type Draft, applyEdits } from './use-draft.ts'

export type Conflict = {
  /** Counts conflicts, so that each conflict starts without decisions. */
  readonly number: number
  readonly changedBy: string | null
  readonly base: Layers
  readonly theirs: Layers
  readonly edits: readonly Edit[]
}

export type Save = {
  readonly isPending: boolean
  readonly failure: Failure | null
  readonly conflict: Conflict | null
  /** Resolves to true when everything is saved. */
  readonly run: (edits: readonly Edit[], layers: Layers) => Promise<boolean>
  /** Clears the failure or the conflict; the draft stays. */
  readonly reset: () => void
}

export function useSave(draft: Draft, { pair, refetch }: LayersRead): Save {
  const { id: projectId } = useProject()
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [conflict, setConflict] = useState<Conflict | null>(null)

  const recover = async (cause: unknown, layers: Layers, remaining: readonly Edit[]): Promise<void> => {
    reportError(cause)
    const described = describeFailure(cause, { isChange: true })
    const theirs = await refetch().catch(() => null)
    if (described.kind !== 'conflict' || theirs === null) {
      // The draft keeps its base. If one of the steps was saved, the next attempt finds a conflict and compares all
      // values.
      setFailure(described)
      return
    }
    setConflict((previous) => ({
      number: (previous?.number ?? 0) + 1,
      changedBy: described.changedBy,
      base: layers,
      theirs,
      edits: remaining,
    }))
  }

  const run = async (edits: readonly Edit[], layers: Layers): Promise<boolean> => {
    setPending(true)
    setFailure(null)
    let [remaining, base] = [edits, layers]
    try {
      await saveEdits(edits, { projectId, pairId: pair?.id ?? null, layers }, (saved) => {
        remaining = remaining.filter((edit) => !saved.includes(edit))
        base = applyEdits(base, saved)
      })
      await client.invalidateQueries()
      draft.discard()
      setConflict(null)
      return true
    } catch (error) {
      await recover(error, base, remaining)
      return false
    } finally {
      setPending(false)
    }
  }
  return {
    isPending,
    failure,
    conflict,
    run,
    reset: () => {
      setFailure(null)
      setConflict(null)
    },
  }
}
