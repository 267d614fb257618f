// One endpoint, and whether a machine user may call it. The switch saves immediately.
import type { ReactNode } from 'react'
import { useMay } from '../../app/project.tsx'
import { useRowSwitch } from '../../app/use-row-switch.ts'
import {
  endpointAccessCreateDocument,
  endpointAccessDeleteDocument,
  endpointAccessUpdateDocument,
} from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { Switch } from '../../kit/form.tsx'
import { SectionRow } from '../../kit/section.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { MachineUser } from './machine-user-types.ts'
import type { EndpointAccess } from './use-endpoint-access.ts'

type EndpointAccessRowProps = {
  user: MachineUser
  item: EndpointAccess
  /** A second value beside the name, such as the path. */
  note: string
  onRemove?: (item: EndpointAccess) => void
}

export function EndpointAccessRow({ user, item, note, onRemove }: EndpointAccessRowProps): ReactNode {
  const t = useText()
  const { date } = useFormat()
  const canSwitch = useMay('machineUsers.switchAccess')
  const canRemove = useMay('machineUsers.removeAccess')
  const { endpoint, row } = item
  const { isOn, isPending, set } = useRowSwitch({
    row,
    input: { machineUserID: user.id, endpointID: endpoint.id },
    create: endpointAccessCreateDocument,
    update: endpointAccessUpdateDocument,
    remove: endpointAccessDeleteDocument,
    describe: (isAllowed) =>
      isAllowed
        ? t('machineUsers.allowed', user.name, endpoint.name)
        : t('machineUsers.forbidden', user.name, endpoint.name),
  })
  const end = [
    !endpoint.enabled && (
      <Badge key="endpoint" icon="minusSign">
        {t('machineUsers.endpointOff')}
      </Badge>
    ),
    row !== null && !isOn && <span key="since">{t('machineUsers.offSince', date(row.updatedAt))}</span>,
    row !== null && canRemove && onRemove !== undefined && (
      <IconButton
        key="remove"
        icon="delete"
        size="small"
        action="machineUsers.removeAccess"
        label={t('machineUsers.removeAccess', endpoint.name)}
        onPress={() => onRemove(item)}
      />
    ),
  ].filter((part) => part !== false)
  return (
    <SectionRow {...(end.length === 0 ? {} : { end })}>
      <Switch
        isSelected={isOn}
        isDisabled={!canSwitch}
        action="machineUsers.switchAccess"
        // A switch that is disabled while it saves would lose the focus.
        onChange={(next) => {
          if (!isPending) set(next)
        }}
        label={
          <span title={`${endpoint.name} ${note}`}>
            <bdi>{endpoint.name}</bdi>
            <span className="muted switch-note">{note}</span>
          </span>
        }
      />
    </SectionRow>
  )
}
