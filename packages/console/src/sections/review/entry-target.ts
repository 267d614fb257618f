// The page that can change an access. Its address needs the slug of the project.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import type { AddressSearch } from '../../app/list-search.ts'
import type { Entry } from './report.ts'

type ProjectName = { readonly id: string; readonly name: string; readonly slug: string }
export type ProjectNames = ReadonlyMap<string, ProjectName>

/** Reads the names of the projects of entries. Until they arrive, and for deleted projects, the map has no entry. */
export function useProjectNames(entries: readonly Entry[]): ProjectNames {
  const ids = [...new Set(entries.flatMap(({ project_id }) => project_id ?? []))].toSorted()
  const { data } = useBatchedReads<{ found: readonly ProjectName[] }>({
    name: 'project-names',
    ids,
    idType: 'String!',
    fields: {
      found:
        'projects(filters: [{ field: "id", value: $id }], pagination: { limit: 1, offset: 0 }) { id name slug }',
    },
  })
  return useMemo(
    () =>
      new Map([...(data ?? [])].flatMap(([id, { found }]) => found.map((project) => [id, project] as const))),
    [data],
  )
}

type EntryTarget = { readonly to: string; readonly search: AddressSearch }

/** Returns the page of the access; null if the project of the access is unknown. */
export function findEntryTarget(entry: Entry, projects: ProjectNames): EntryTarget | null {
  const { principal_type: type, principal_id: id, project_id: projectId } = entry
  if (type === 'personal_access_token') return { to: '/system/tokens', search: { open: id } }
  if (type === 'scim_token') return { to: '/system/provisioning', search: { open: id } }
  if (type === 'user') return { to: '/system/users', search: { open: id } }
  const project = projectId === null ? undefined : projects.get(projectId)
  if (project === undefined) return null
  const tab = entry.scope_type === 'endpoint' ? { tab: 'access' } : {}
  return { to: `/p/${project.slug}/machine-users`, search: { open: id, ...tab } }
}
