// Applies marked changes one after another, because the API changes one row per request.
import { graphql } from '@manager/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { connection } from '../../api/connection.ts'
import { reportError } from '../../api/connection-state.ts'
import { type FailureKind, describeFailure } from '../../api/failures.ts'
import { useChangeText } from '../../app/change-failure.tsx'
import { accessCreateDocument, accessUpdateDocument } from '../../generated/documents.ts'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Mark, Marks } from './access-marks.ts'

/** Failures that the next change would also cause. */
const stoppingKinds: ReadonlySet<FailureKind> = new Set([
  'sessionEnded',
  'rateLimited',
  'unavailable',
  'offline',
  'unreachable',
  'unknownOutcome',
])

export type Apply = {
  /** The position of the change that is being sent; null if none is being sent. */
  readonly progress: { readonly current: number; readonly total: number } | null
  /** Whether the last attempt left some changes unsent. */
  readonly isStopped: boolean
  readonly run: () => Promise<void>
}

const send = ({ row, tenant, application, isOn }: Mark): Promise<unknown> =>
  row === null
    ? graphql(connection, accessCreateDocument, {
        input: { tenantId: tenant.id, applicationId: application.id },
      })
    : graphql(connection, accessUpdateDocument, { id: row.id, enabled: isOn, revision: row.revision })

export function useApply(marks: Marks): Apply {
  const t = useText()
  const describe = useChangeText()
  const client = useQueryClient()
  const [progress, setProgress] = useState<Apply['progress']>(null)
  const [isStopped, setStopped] = useState(false)
  const run = async (): Promise<void> => {
    const { list } = marks
    let applied = 0
    setStopped(false)
    for (const [index, mark] of list.entries()) {
      setProgress({ current: index + 1, total: list.length })
      try {
        await send(mark)
        marks.remove(mark.key)
        applied++
      } catch (error) {
        const failure = describeFailure(error, { isChange: true })
        reportError(error)
        marks.fail(mark.key, describe(failure))
        if (stoppingKinds.has(failure.kind)) {
          setStopped(index + 1 < list.length)
          break
        }
      }
    }
    setProgress(null)
    if (applied > 0) showToast(t('access.applied', applied))
    await client.invalidateQueries()
  }
  return { progress, isStopped, run }
}
