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

/** Reads the names of all applications, at most 1,000. */
export function useApplicationNames(): UseQueryResult<AllRows<ApplicationName>> {
  const { slug } = useProject()
  return useAllRows(describeNames(slug))
}
