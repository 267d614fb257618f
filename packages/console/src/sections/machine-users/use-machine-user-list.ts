// Reads the page of machine users that the address selects, across all environments of the project.
import type { TypedDocument } from '@manager/client'
import { useRead } from '../../api/requests.ts'
import { useEnvironment } from '../../app/environment.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import {
  type Filter,
  type MachineUserExportResult,
  type MachineUserExportVariables,
  type MachineUserListResult,
  type MachineUserListVariables,
  machineUserExportDocument,
  machineUserListDocument,
  machineUserOldExportDocument,
  machineUserOldListDocument,
} from '../../generated/documents.ts'
import { createStatusFilter, createTextFilters, readListFilters } from './machine-user-filters.ts'

// The list of old credentials has the same shape as the full list, but requires the age.
type Age = { readonly days?: number }
type ListDocument = TypedDocument<MachineUserListResult, MachineUserListVariables & Age>
type ExportDocument = TypedDocument<MachineUserExportResult, MachineUserExportVariables & Age>

export const defaultOrder = { field: 'name', direction: 'ASC' } as const

export function useMachineUserList({ search, sort, page, size }: ListSearch) {
  const { id } = useProject()
  const environment = useEnvironment()
  const filters = readListFilters(search)
  const { olderThan } = filters
  const isOld = olderThan !== null
  const fixed: readonly Filter[] = [
    ...(environment === null ? [] : [{ field: 'environmentId', value: environment.id }]),
    ...createStatusFilter(filters),
  ]
  const [byName, byUserName] = createTextFilters(search['q'] ?? '')
  const order = [sort ?? defaultOrder]
  const target = { project: id, order, ...(isOld ? { days: olderThan } : {}) }
  const document: ListDocument = isOld
    ? (machineUserOldListDocument as ListDocument)
    : machineUserListDocument
  const variables = (first: readonly Filter[]) => ({
    ...target,
    filters: [...first, ...fixed],
    pagination: { limit: size, offset: (page - 1) * size },
  })
  // The API combines filters with "and", so a text that matches no name is tried as a user name.
  const names = useRead(document, variables(byName), { keepsPrevious: true })
  const isUserNameTried = byUserName !== null && names.data?.list.totalCount === 0
  const userNames = useRead(document, variables(byUserName ?? []), { isEnabled: isUserNameTried })
  const isByUserName = isUserNameTried && userNames.data !== undefined
  const exportDocument: ExportDocument = isOld
    ? (machineUserOldExportDocument as ExportDocument)
    : machineUserExportDocument
  return {
    result: (isByUserName ? userNames : names).data?.list,
    error: names.error ?? userNames.error,
    refetch: () => {
      void names.refetch()
      if (isUserNameTried) void userNames.refetch()
    },
    olderThan,
    isFiltered: fixed.length > 0 || byName.length > 0 || isOld,
    exported: {
      document: exportDocument,
      variables: { ...target, filters: [...(isByUserName ? byUserName : byName), ...fixed] },
    },
  }
}
