// The applications of the current project. Several pages show the complete list.
import type { UseQueryResult } from '@tanstack/react-query'
import { type AllRows, startAllRows, useAllRows } from '../api/all-rows.ts'
import { type ApplicationNamesResult, applicationNamesDocument } from '../generated/documents.ts'
import { useProject } from './project.tsx'

export type ApplicationName = ApplicationNamesResult['applicationsConnection']['nodes'][number]

const describeNames = (project: string) => ({
  document: applicationNamesDocument,
  variables: { project },
  select: (result: ApplicationNamesResult) => result.applicationsConnection,
})

/** Starts the read of `useApplicationNames` while the files of a page are still loading. */
export const startApplicationNames = (project: string): Promise<AllRows<ApplicationName>> =>
  startAllRows(describeNames(project))

/** Returns the id of the application if the project has only one, so that a person does not have to choose it. */
export function useOnlyApplication(): string | null {
  const { data } = useApplicationNames()
  return data?.rows.length === 1 && data.isComplete ? (data.rows[0]?.id ?? null) : null
}

/** Reads the names of all applications, at most 1,000. */
export function useApplicationNames(): UseQueryResult<AllRows<ApplicationName>> {
  const { slug } = useProject()
  return useAllRows(describeNames(slug))
}
