import type { Tx } from '../../platform/postgres/handles.ts'

type ApplicationKey = { id: string } | { project: string | undefined; slug: string | undefined }
type NamedApplication = { id: string; slug: string; project: string }

/** Returns the application with this id, or with these project and application slugs. */
export function findApplication(tx: Tx, key: ApplicationKey): Promise<NamedApplication | undefined> {
  const query = tx
    .selectFrom('applications')
    .innerJoin('projects', 'projects.id', 'applications.projectId')
    .select(['applications.id', 'applications.slug', 'projects.slug as project'])
  if ('id' in key) return query.where('applications.id', '=', key.id).executeTakeFirst()
  return query
    .where('projects.slug', '=', key.project ?? '')
    .where('applications.slug', '=', key.slug ?? '')
    .executeTakeFirst()
}

/** Returns the id of the deployment specification of an application in an environment. */
export async function findSpecificationId(
  tx: Tx,
  applicationId: string,
  environment: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('deploymentSpecifications as s')
    .innerJoin('environments as e', 'e.id', 's.environmentId')
    .select('s.id')
    .where('s.applicationId', '=', applicationId)
    .where('e.name', '=', environment)
    .executeTakeFirst()
  return row?.id
}
