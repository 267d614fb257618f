// The applications of the current project. Several pages show the complete list.
import type { UseQueryResult } from '@tanstack/react-query'
import { type AllRows, useAllRows } from '../api/all-rows.ts'
import { type ApplicationNamesResult, applicationNamesDocument } from '../generated/documents.ts'
import { useProject } from './project.tsx'

export type ApplicationName = ApplicationNamesResult['applicationsConnection']['nodes'][number]

/** Reads the names of all applications, at most 1,000. */
export function useApplicationNames(): UseQueryResult<AllRows<ApplicationName>> {
  const { slug } = useProject()
  return useAllRows({
    document: applicationNamesDocument,
    variables: { project: slug },
    select: (result) => result.applicationsConnection,
  })
}
