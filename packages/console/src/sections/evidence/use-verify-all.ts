// Verifies the audit chains of all projects, one after another, then asks for the verdict on all chains.
import { sendForJson } from '@manager/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { readAllRows } from '../../api/all-rows.ts'
import { connection } from '../../api/connection.ts'
import { reportError, reportSuccess } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { evidenceProjectsDocument } from '../../generated/documents.ts'
import { type VerifiedPart, verifyChain } from '../audit/use-verification.ts'
import type { ChainVerdict } from './evidence.ts'

type Counts = {
  /** Number of verified projects. */
  readonly done: number
  readonly total: number
  /** Number of verified entries, in all projects. */
  readonly entries: number
}

export type VerifyAllState =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly counts: Counts; readonly project: string }
  | {
      readonly state: 'done'
      readonly counts: Counts
      readonly broken: readonly string[]
      /** The verdict on all chains, including the chain of the installation. */
      readonly verdict: ChainVerdict
    }
  | { readonly state: 'failed'; readonly failure: Failure }

type VerifyAll = {
  readonly verification: VerifyAllState
  /** The last part of each verified project, by its id. */
  readonly parts: ReadonlyMap<string, VerifiedPart>
  readonly start: () => void
  /** Stops the verification, or removes its result. */
  readonly stop: () => void
}

const maxProjectPages = 100

const listProjects = async (signal: AbortSignal) => {
  const { rows } = await readAllRows(
    {
      document: evidenceProjectsDocument,
      variables: { pagination: { limit: 100, offset: 0 } },
      select: (result) => result.projectsConnection,
      maxPages: maxProjectPages,
    },
    signal,
  )
  return rows
}

/** The chain of the installation belongs to no project. The export contains the verdict on it. */
const readVerdict = async (signal: AbortSignal): Promise<ChainVerdict> => {
  const { chain } = await sendForJson<{ chain: ChainVerdict }>(connection, {
    method: 'GET',
    path: '/api/audit/export?format=json&limit=1',
    signal,
  })
  return chain
}

export function useVerifyAll(): VerifyAll {
  const client = useQueryClient()
  const [verification, setVerification] = useState<VerifyAllState>({ state: 'idle' })
  const [parts, setParts] = useState<ReadonlyMap<string, VerifiedPart>>(new Map())
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const verify = async (signal: AbortSignal): Promise<void> => {
    const projects = await listProjects(signal)
    const broken: string[] = []
    const total = projects.length
    let [done, entries] = [0, 0]
    for (const { id, name } of projects) {
      const show = (part: VerifiedPart | null): void => {
        if (signal.aborted) return
        const counts = { done, total, entries: entries + (part?.toSeq ?? 0) }
        setVerification({ state: 'running', counts, project: name })
      }
      show(null)
      const part = await verifyChain(id, signal, show)
      signal.throwIfAborted()
      done++
      entries += part.toSeq
      if (part.status === 'broken') broken.push(name)
      setParts((known) => new Map([...known, [id, part]]))
    }
    const verdict = await readVerdict(signal)
    signal.throwIfAborted()
    reportSuccess()
    setVerification({ state: 'done', counts: { done, total, entries }, broken, verdict })
  }

  const start = async (): Promise<void> => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    setParts(new Map())
    setVerification({ state: 'running', counts: { done: 0, total: 0, entries: 0 }, project: '' })
    try {
      await verify(signal)
    } catch (error) {
      if (signal.aborted) return
      reportError(error)
      setVerification({ state: 'failed', failure: describeFailure(error) })
    } finally {
      void client.invalidateQueries()
    }
  }
  return {
    verification,
    parts,
    start: () => void start(),
    stop: () => {
      running.current?.abort()
      setVerification({ state: 'idle' })
    },
  }
}
