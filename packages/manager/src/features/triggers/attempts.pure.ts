// Attempts as they wait in a queue, and which queue and group they belong to.

/** An attempt to deliver a run, which is named by its primary key. */
export type AttemptJob = { triggerId: string; environmentId: string; scheduledAt: string; attempt: number }

/** The queues, as the migration names them. */
export const [firstAttempts, laterAttempts] = ['trigger-attempts', 'trigger-retries']

/** The jobs of a deployment share a limit, and so do those of a project. */
export const groupOf = (run: { projectId: string; applicationId: string; environmentId: string }): string =>
  `${run.projectId}/${run.applicationId}/${run.environmentId}`
