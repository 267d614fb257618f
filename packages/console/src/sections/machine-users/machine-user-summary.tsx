// Summarizes a machine user: its account, the age of its credential, the backends that use it, and the endpoints that
// it may call.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useNow } from '../../app/now.ts'
import { useCan, useMay } from '../../app/project.tsx'
import { Status } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Facts, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { EndpointAccessRow } from './endpoint-access-row.tsx'
import { AgeText, EnabledStatus } from './machine-user-columns.tsx'
import { type MachineUser, isBasic } from './machine-user-types.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { readTokenAge } from './token-age.ts'
import { useCanReadAccess, useEndpointAccess } from './use-endpoint-access.ts'
import { useMachineBackends } from './use-machine-backends.ts'

type SummaryProps = { user: MachineUser; onTab: (tab: string) => void }
const shownEndpoints = 8

export function MachineUserSummary({ user, onTab }: SummaryProps): ReactNode {
  const canReadBackends = useCan('BACKEND_READ')
  return (
    <>
      <Hint user={user} />
      <Account user={user} />
      {canReadBackends && <Backends id={user.id} />}
      {useCanReadAccess() && <Access user={user} onTab={onTab} />}
    </>
  )
}

/** The most important fact about the machine user: it is disabled, or its credential is old. */
function Hint({ user }: { user: MachineUser }): ReactNode {
  const t = useText()
  const canRotate = useMay('machineUsers.rotate')
  const { days, isOld } = readTokenAge(user, useNow())
  if (user.enabled && !isOld) return null
  return (
    <div className="machine-user-hint">
      <Note tone="warn">
        {user.enabled ? t('machineUsers.isOld', days) : t('machineUsers.isDisabled')}
        {user.enabled && canRotate && ` ${t('machineUsers.rotateNow')}`}
      </Note>
    </div>
  )
}

function Account({ user }: { user: MachineUser }): ReactNode {
  const t = useText()
  const canRename = useMay('machineUsers.rename')
  const [isRenaming, setRenaming] = useState(false)
  const age = readTokenAge(user, useNow())
  const { enabled, environment, tokenPrefix, username, lastRotatedAt, lastUsedAt, createdAt, updatedAt } =
    user
  return (
    <Section
      title={t('machineUsers.account')}
      action={
        canRename && (
          <Button variant="link" action="machineUsers.rename" onPress={() => setRenaming(true)}>
            {t('machineUsers.rename')}
          </Button>
        )
      }
    >
      <Facts
        items={[
          { label: t('machineUsers.status'), value: <EnabledStatus isEnabled={enabled} /> },
          { label: t('machineUsers.environment'), value: environment.displayName },
          {
            label: t('machineUsers.credential'),
            value: (
              <>
                {isBasic(user) ? t('machineUsers.userName') : t('machineUsers.tokenPrefix')}{' '}
                <code>{tokenPrefix ?? username}</code>
              </>
            ),
          },
          {
            label: isBasic(user) ? t('machineUsers.passwordAge') : t('machineUsers.age'),
            value: (
              <span className="machine-user-parts">
                <AgeText age={age} />
                <span className="muted">
                  {lastRotatedAt === null ? (
                    t('machineUsers.neverRotated')
                  ) : (
                    <>
                      {t('machineUsers.rotated')} <Time at={lastRotatedAt} />
                    </>
                  )}
                </span>
              </span>
            ),
          },
          {
            label: t('machineUsers.lastUse'),
            value: (
              <span className="machine-user-parts">
                <Time at={lastUsedAt} />
                {lastUsedAt !== null && <span className="muted">{t('machineUsers.useDelay')}</span>}
              </span>
            ),
          },
          { label: t('machineUsers.created'), value: <Time at={createdAt} /> },
          { label: t('machineUsers.changed'), value: <Time at={updatedAt} /> },
        ]}
      />
      {isRenaming && <RenameDialog user={user} onClose={() => setRenaming(false)} />}
    </Section>
  )
}

function Backends({ id }: { id: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { items, error, refetch } = useMachineBackends(id)
  return (
    <Section title={t('machineUsers.backends')} note={items !== undefined && number(items.length)}>
      {items === undefined && <Waiting error={error} onRetry={refetch} />}
      {items?.length === 0 && <SectionText>{t('machineUsers.noBackends')}</SectionText>}
      {items?.map(({ id: key, application, version, isLive, lastHeartbeat }) => (
        <SectionRow
          key={key}
          end={
            <>
              <Status kind={isLive ? 'ok' : 'danger'}>
                {isLive ? t('machineUsers.live') : t('machineUsers.notLive')}
              </Status>
              <Time at={lastHeartbeat} />
            </>
          }
        >
          <span className="truncate">{application.name}</span>
          <span className="truncate muted machine-user-version">
            {version === '' ? t('machineUsers.noVersion') : version}
          </span>
        </SectionRow>
      ))}
    </Section>
  )
}

function Access({ user, onTab }: SummaryProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const canChange = useMay('machineUsers.switchAccess')
  const { items, error, refetch } = useEndpointAccess(user.id)
  const granted = items?.filter(({ row }) => row !== null)
  const allowed = granted?.filter(({ row }) => row?.enabled === true).length ?? 0
  const hidden = (granted?.length ?? 0) - shownEndpoints
  return (
    <Section
      title={t('machineUsers.access')}
      note={items !== undefined && t('machineUsers.allowedOf', number(allowed), number(items.length))}
      action={
        <Button variant="link" onPress={() => onTab('access')}>
          {canChange ? t('machineUsers.change') : t('machineUsers.showAll')}
        </Button>
      }
    >
      {granted === undefined && <Waiting error={error} onRetry={refetch} />}
      {granted?.length === 0 && <SectionText>{t('machineUsers.noAccess')}</SectionText>}
      {granted?.slice(0, shownEndpoints).map((item) => (
        <EndpointAccessRow key={item.endpoint.id} user={user} item={item} note={item.application.name} />
      ))}
      {hidden > 0 && (
        <Button variant="link" onPress={() => onTab('access')}>
          {t('app.more', number(hidden))}
        </Button>
      )}
    </Section>
  )
}

const Waiting = ({ error, onRetry }: { error: Error | null; onRetry: () => void }): ReactNode =>
  error === null ? <Skeleton rows={3} /> : <FailureState failure={describeFailure(error)} onRetry={onRetry} />
