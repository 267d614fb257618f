// Reads the triggers of the project, or of the application that the address selects.
import { useMemo } from 'react'
import { useAllRows } from '../../api/all-rows.ts'
import { usePickedApplication } from '../../app/in-project.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { triggerListDocument, triggerListOfApplicationDocument } from '../../generated/documents.ts'
import { isFiltered, selectTriggers } from './trigger-rows.ts'
import type { TriggerRow } from './trigger-types.ts'

/** The number of triggers that the list of the project reads for each application. */
const maxOfApplication = 100

type TriggerList = {
  /** The rows of the current page; undefined until they are loaded. */
  readonly rows: readonly TriggerRow[] | undefined
  readonly selected: readonly TriggerRow[]
  /** Whether the list of the project has no application that a trigger could belong to. */
  readonly hasApplications: boolean
  readonly isComplete: boolean
  readonly isFiltered: boolean
  readonly error: Error | null
  readonly refetch: () => void
}

export function useTriggerList(list: ListSearch): TriggerList {
  const { search, sort, page, size } = list
  const { slug } = useProject()
  const applicationId = search['application'] ?? null
  const { item: application, error: applicationError } = usePickedApplication(applicationId)
  const all = useAllRows(
    {
      document: triggerListDocument,
      variables: { project: slug },
      select: (result) => result.applicationsConnection,
    },
    { isEnabled: applicationId === null },
  )
  const own = useAllRows(
    {
      document: triggerListOfApplicationDocument,
      variables: { application: applicationId ?? '' },
      select: (result) => result.triggersConnection,
    },
    { isEnabled: application !== undefined },
  )
  const triggers = useMemo((): readonly TriggerRow[] | undefined => {
    if (applicationId === null)
      return all.data?.rows.flatMap(({ id, name, triggers: listed }) =>
        listed.map((row) => ({ ...row, application: { id, name } })),
      )
    return application === undefined ? undefined : own.data?.rows.map((row) => ({ ...row, application }))
  }, [applicationId, all.data, own.data, application])
  const selected = useMemo(() => selectTriggers(triggers ?? [], search, sort), [triggers, search, sort])
  const rows = useMemo(() => selected.slice((page - 1) * size, page * size), [selected, page, size])
  const shown = applicationId === null ? all : own
  const hasMore = all.data?.rows.some((one) => one.triggers.length >= maxOfApplication) ?? false
  return {
    rows: triggers === undefined ? undefined : rows,
    selected,
    hasApplications: applicationId !== null || all.data?.rows.length !== 0,
    isComplete: (shown.data?.isComplete ?? true) && (applicationId !== null || !hasMore),
    isFiltered: isFiltered(search),
    error: applicationError ?? shown.error,
    refetch: () => void shown.refetch(),
  }
}
