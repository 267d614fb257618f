// Whether a deployment has live backends. During a wake, the Manager is asked more often.
import { useEffect } from 'react'
import { useRead } from '../../api/requests.ts'
import { useNow } from '../../app/now.ts'
import { type DeploymentReadinessResult, deploymentReadinessDocument } from '../../generated/documents.ts'
import type { Deployment } from './deployment-types.ts'
import { isUnderway } from './wake-list.ts'
import { endWake, useWake } from './wakes.ts'

const wakePollMs = 1_000
/** A wake that takes longer may never end, so the Manager is no longer asked more often. */
const maxWakeMs = 600_000

export type Readiness = DeploymentReadinessResult['deploymentReadiness']

/** Reads the readiness of the open deployment, and ends its wake when a backend is live. */
export function useReadiness(id: string, deployment: Deployment | undefined): Readiness | undefined {
  const wake = useWake(id)
  const isWaking = wake !== null && isUnderway(wake)
  const now = useNow()
  const isRecent = isWaking && now < wake.startedAt + maxWakeMs
  const { data, dataUpdatedAt } = useRead(
    deploymentReadinessDocument,
    { application: deployment?.application.id ?? '', environment: deployment?.environment.id ?? '' },
    { isEnabled: deployment !== undefined, isLive: true, ...(isRecent ? { refetchMs: wakePollMs } : {}) },
  )
  const readiness = data?.deploymentReadiness
  // A backend that was live before the response of the wake may have stopped since.
  const isReady =
    isWaking && wake.phase !== 'asking' && readiness?.ready === true && dataUpdatedAt > wake.answeredAt
  useEffect(() => {
    if (isReady) endWake(id)
  }, [id, isReady])
  return readiness
}
