// What belongs to an application also names the application's project.
import type { Tx } from './handles.ts'

/** The project of an application, which cannot be deleted until the transaction ends; nothing when it is gone. */
export async function lockProjectOf(tx: Tx, applicationId: string): Promise<string | undefined> {
  const application = await tx
    .selectFrom('applications')
    .select('projectId')
    .where('id', '=', applicationId)
    .forKeyShare()
    .executeTakeFirst()
  return application?.projectId
}
