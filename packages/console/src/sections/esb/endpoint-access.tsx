// The machine users that may call an endpoint. A switch saves immediately.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { useRowSwitch } from '../../app/use-row-switch.ts'
import {
  endpointAccessCreateDocument,
  endpointAccessDeleteDocument,
  endpointAccessUpdateDocument,
} from '../../generated/documents.ts'
import { Badge, EnvironmentBadge } from '../../kit/badge.tsx'
import { Switch } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { AllowMachineUser } from './allow-machine-user.tsx'
import type { AccessRow, Endpoint } from './endpoint-types.ts'
import { maxAccessRows, useAccess } from './use-access.ts'

export function EndpointAccess({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { slug } = useProject()
  const { data, error, refetch } = useAccess(endpoint.id)
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={6} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  const { nodes, totalCount } = data.machineUser2endpointsConnection
  const rows = nodes.toSorted((a, b) => a.machineUser.name.localeCompare(b.machineUser.name))
  return (
    <Section
      title={t('section.machineUsers')}
      action={
        <Link to="/p/$project/machine-users" params={{ project: slug }}>
          {t('esb.allMachineUsers')}
        </Link>
      }
    >
      {rows.map((row) => (
        <Row key={row.id} endpoint={endpoint} row={row} />
      ))}
      {rows.length === 0 && <SectionText>{t('esb.noAccess')}</SectionText>}
      {totalCount > rows.length && <Note tone="info">{t('esb.someAccess', number(maxAccessRows))}</Note>}
      <AllowMachineUser endpoint={endpoint} rows={nodes} />
      <SectionText>{t('esb.accessHint')}</SectionText>
    </Section>
  )
}

function Row({ endpoint, row }: { endpoint: Endpoint; row: AccessRow }): ReactNode {
  const t = useText()
  const { machineUser } = row
  const canSwitch = useMay('esb.switchAccess')
  const { isOn, isPending, set } = useRowSwitch({
    row,
    input: { machineUserID: machineUser.id, endpointID: endpoint.id },
    create: endpointAccessCreateDocument,
    update: endpointAccessUpdateDocument,
    remove: endpointAccessDeleteDocument,
    describe: (isAllowed) => t(isAllowed ? 'esb.allowed' : 'esb.forbidden', machineUser.name, endpoint.name),
  })
  const { environment } = machineUser
  return (
    <SectionRow
      end={
        <>
          {!machineUser.enabled && <Badge icon="minusSign">{t('esb.disabled')}</Badge>}
          <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
        </>
      }
    >
      <Switch
        isSelected={isOn}
        isDisabled={!canSwitch}
        action="esb.switchAccess"
        // A switch that is disabled while it saves would lose the focus.
        onChange={(next) => {
          if (!isPending) set(next)
        }}
        label={<span title={machineUser.name}>{machineUser.name}</span>}
      />
    </SectionRow>
  )
}
