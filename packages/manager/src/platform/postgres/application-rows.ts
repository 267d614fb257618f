// Rows that belong to an application also store the project of the application.
import type { Tx } from './handles.ts'

/** Locks the application against deletion and returns its project, or undefined if the application does not exist. */
export async function lockApplicationProject(tx: Tx, applicationId: string): Promise<string | undefined> {
  const application = await tx
    .selectFrom('applications')
    .select('projectId')
    .where('id', '=', applicationId)
    .forKeyShare()
    .executeTakeFirst()
  return application?.projectId
}
