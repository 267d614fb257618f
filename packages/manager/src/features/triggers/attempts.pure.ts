// Attempts as they wait in a queue, and which queue and group they belong to.

/** An attempt to deliver a run, which is named by its primary key. */
export type AttemptJob = { triggerId: string; environmentId: string; scheduledAt: string; attempt: number }

/** The previous release has queues of the same names. */
export const [firstAttempts, laterAttempts] = ['trigger-attempts', 'trigger-retries']

/** The attempts of a deployment share a limit. */
export const groupOf = (run: { projectId: string; applicationId: string; environmentId: string }): string =>
  `${run.projectId}/${run.applicationId}/${run.environmentId}`
