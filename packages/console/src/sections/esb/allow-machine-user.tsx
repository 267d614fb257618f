// Lets another machine user call an endpoint. A choice saves immediately, like a switch.
import { type ReactNode, useState } from 'react'
import { useChange, useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { useCan, useMay, useProject } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { endpointAccessCreateDocument, pickMachineUsersDocument } from '../../generated/documents.ts'
import { Picker, type PickerOption } from '../../kit/picker.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { AccessRow, Endpoint } from './endpoint-types.ts'

type AllowMachineUserProps = {
  endpoint: Pick<Endpoint, 'id' | 'name'>
  /** The access that exists. Its machine users have a switch. */
  rows: readonly AccessRow[]
}

/** Shows nothing to a person who may not do this. */
export function AllowMachineUser(props: AllowMachineUserProps): ReactNode {
  const canSwitch = useMay('esb.switchAccess')
  const canRead = useCan('MACHINE_USER_READ')
  return canSwitch && canRead ? <MachineUserPicker {...props} /> : null
}

function MachineUserPicker({ endpoint, rows }: AllowMachineUserProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id: project } = useProject()
  const [search, onSearch] = useState('')
  const text = useDebounced(search.trim())
  const { data, isFetching } = useRead(
    pickMachineUsersDocument,
    { project, filters: text === '' ? [] : [{ field: 'name', value: text }] },
    { keepsPrevious: true },
  )
  const { mutate, isPending } = useChange(endpointAccessCreateDocument)
  const onError = useFailureToast()
  const { nodes, totalCount } = data?.projectMachineUsersConnection ?? { nodes: [], totalCount: 0 }
  const known = new Set(rows.map(({ machineUser }) => machineUser.id))
  const allow = ({ id, text: name }: PickerOption): void => {
    if (isPending) return
    mutate(
      { input: { machineUserID: id, endpointID: endpoint.id } },
      { onError, onSuccess: () => showToast(t('esb.allowed', name, endpoint.name)) },
    )
  }
  return (
    <Picker
      label={t('esb.allowAnother')}
      value={null}
      placeholder={t('app.choose')}
      options={nodes
        .filter(({ id }) => !known.has(id))
        .map(({ id, name, environment }) => ({ id, text: name, hint: environment.name }))}
      isLoading={isFetching || isPending}
      search={search}
      onSearch={onSearch}
      onChange={allow}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
    />
  )
}
