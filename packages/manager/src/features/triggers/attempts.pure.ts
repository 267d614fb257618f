// Defines queued attempts, and their queues and groups.

/** An attempt to deliver a run. The run's primary key identifies the attempt. */
export type AttemptJob = { triggerId: string; environmentId: string; scheduledAt: string; attempt: number }

/** Names of the queues. The previous release uses the same names. */
export const [firstAttempts, laterAttempts] = ['trigger-attempts', 'trigger-retries']

/** Returns the job that makes the first attempt of a run. */
export const createFirstAttempt = (run: {
  projectId: string
  applicationId: string
  triggerId: string
  environmentId: string
  scheduledAt: string
}): { data: AttemptJob; owner: string; group: string } => {
  const { triggerId, environmentId, scheduledAt } = run
  return {
    data: { triggerId, environmentId, scheduledAt, attempt: 1 },
    owner: run.projectId,
    group: getGroup(run),
  }
}

/** Returns the group of a run. All attempts of a deployment share a limit. */
export const getGroup = (run: { projectId: string; applicationId: string; environmentId: string }): string =>
  `${run.projectId}/${run.applicationId}/${run.environmentId}`
