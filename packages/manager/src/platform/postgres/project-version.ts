// Versions of a project, one per area. Triggers record every change to the tables below in the same transaction,
// regardless of who makes the change. A version therefore changes exactly when data in its area changes, and all
// readers see the new version at commit.
import { createCoalescer, orderByPosition } from './coalesce.ts'
import type { Database } from './database.ts'
import type { PreparedStatement } from './prepared.ts'

/**
 * The tables that responses of an area are built from. A response cached under the version of its area must be built
 * only from these tables. Each of them needs the trigger that calls project_versions_note.
 */
export const areas = {
  access: [
    'applications',
    'tenants',
    'tenant2applications',
    'user2projects',
    'user2tenants',
    'user2applications',
    'tenant_role_definitions',
  ],
  settings: ['applications', 'tenant2applications', 'settings'],
  texts: ['applications', 'language_packs'],
  pilets: ['applications', 'tenant2applications', 'settings', 'pilet_packages'],
  endpoints: ['applications', 'endpoints', 'machine_user2endpoints'],
} as const satisfies Record<string, readonly string[]>

/** A part of a project that has its own version. */
export type Area = keyof typeof areas

const createMarksSql = (area: Area): string =>
  `concat_ws(' ', ${areas[area].map((table) => `v.versions ->> '${table}'`).join(', ')})`

/**
 * Returns the version as an SQL expression; `projectId` is also an SQL expression. The version is empty before the
 * first change.
 */
export const createVersionSql = (projectId: string, area: Area): string =>
  `coalesce((select ${createMarksSql(area)} from project_versions v where v.project_id = ${projectId}), '')`

const areaCasesSql = (Object.keys(areas) as Area[])
  .map((area) => `when '${area}' then ${createMarksSql(area)}`)
  .join(' ')
const statement: PreparedStatement = {
  name: 'project-versions',
  kind: 'read',
  text: `
    select wanted.position::int,
      coalesce((select case wanted.area ${areaCasesSql} end from project_versions v where v.project_id = wanted.id), '') as version
    from unnest($1::uuid[], $2::text[]) with ordinality as wanted (id, area, position)`,
}

type VersionKey = { projectId: string; area: Area }
/** Returns the version of an area of a project. */
export type ReadProjectVersion = (projectId: string, area: Area) => Promise<string | null>

/** Reads versions. Concurrent requests share a statement, which starts after the last of these requests. */
export function createProjectVersions(database: Pick<Database, 'run'>): ReadProjectVersion {
  const readVersion = createCoalescer<VersionKey, string>({
    getKey: ({ projectId, area }) => `${area} ${projectId}`,
    run: async (versionKeys) => {
      const values = [versionKeys.map(({ projectId }) => projectId), versionKeys.map(({ area }) => area)]
      const rows = await database.run<{ position: number; version: string }>(statement, values)
      return orderByPosition(versionKeys.length, rows).map((row) => row?.version ?? null)
    },
  })
  return (projectId, area) => readVersion({ projectId, area })
}
