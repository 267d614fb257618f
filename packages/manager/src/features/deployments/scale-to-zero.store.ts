import type { Tx } from '../../platform/postgres/handles.ts'

type Named = { id: string } | { project: string | undefined; slug: string | undefined }
type NamedApplication = { id: string; slug: string; project: string }

/** Returns the application with this id, or with this project slug and application slug. */
export function findApplication(tx: Tx, named: Named): Promise<NamedApplication | undefined> {
  const found = tx
    .selectFrom('applications')
    .innerJoin('projects', 'projects.id', 'applications.projectId')
    .select(['applications.id', 'applications.slug', 'projects.slug as project'])
  if ('id' in named) return found.where('applications.id', '=', named.id).executeTakeFirst()
  return found
    .where('projects.slug', '=', named.project ?? '')
    .where('applications.slug', '=', named.slug ?? '')
    .executeTakeFirst()
}

/** Returns the id of the specification of an application in the environment with this name. */
export async function findSpecificationOf(
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
