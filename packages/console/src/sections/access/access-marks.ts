// Changes that a person has marked in the matrix. Nothing is saved until they are applied.
import { useCallback, useMemo, useState } from 'react'
import type { ApplicationName } from '../../app/applications.ts'
import type { AccessRow, AccessTenant } from './access-data.ts'

export type Mark = {
  readonly key: string
  readonly tenant: AccessTenant
  readonly application: ApplicationName
  /** The row at the time it was marked; null if the application was never added to the tenant. */
  readonly row: AccessRow | null
  readonly isOn: boolean
  /** Why the last attempt to apply the mark failed. */
  readonly problem: string | null
}

export type Marks = {
  readonly list: readonly Mark[]
  readonly byKey: ReadonlyMap<string, Mark>
  readonly toggle: (tenant: AccessTenant, application: ApplicationName, row: AccessRow | null) => void
  readonly remove: (key: string) => void
  readonly fail: (key: string, problem: string) => void
  readonly clear: () => void
}

export const createMarkKey = (tenantId: string, applicationId: string): string =>
  `${tenantId}/${applicationId}`

/** Marks a cell, or removes its mark. */
function toggleMark(marks: ReadonlyMap<string, Mark>, mark: Omit<Mark, 'key' | 'isOn' | 'problem'>) {
  const key = createMarkKey(mark.tenant.id, mark.application.id)
  const next = new Map(marks)
  if (!next.delete(key)) next.set(key, { ...mark, key, isOn: !(mark.row?.enabled ?? false), problem: null })
  return next
}

export function useMarks(): Marks {
  const [marks, setMarks] = useState<ReadonlyMap<string, Mark>>(new Map())
  const toggle = useCallback<Marks['toggle']>(
    (tenant, application, row) => setMarks((previous) => toggleMark(previous, { tenant, application, row })),
    [],
  )
  return useMemo(
    () => ({
      list: [...marks.values()],
      byKey: marks,
      toggle,
      remove: (key) => setMarks((previous) => new Map([...previous].filter(([other]) => other !== key))),
      fail: (key, problem) =>
        setMarks(
          (previous) =>
            new Map(
              [...previous].map(([other, mark]) => [other, other === key ? { ...mark, problem } : mark]),
            ),
        ),
      clear: () => setMarks(new Map()),
    }),
    [marks, toggle],
  )
}
