// Copies the settings of applications from another tenant.
import { type ReactNode, useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { graphql } from '@manager/client'
import { connection } from '../../api/connection.ts'
import { reportError } from '../../api/connection-state.ts'
import { describeFailure } from '../../api/failures.ts'
import { useChangeText } from '../../app/change-failure.tsx'
import { TenantPicker } from '../../app/object-pickers.tsx'
import { tenantCopySettingsDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Check } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { SectionRow } from '../../kit/section.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'
import { type TenantApplication, useTenantRows } from './use-tenant-rows.ts'

type Pair = { readonly source: TenantApplication; readonly target: TenantApplication }
type CopyDialogProps = { tenant: Tenant; onClose: () => void }

export function CopyDialog({ tenant, onClose }: CopyDialogProps): ReactNode {
  const t = useText()
  const [sourceId, setSourceId] = useState<string | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const copy = useCopy(tenant)
  return (
    <Dialog
      title={t('tenants.copyTitle', tenant.name)}
      isOpen
      width={640}
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <CopyButton tenant={tenant} sourceId={sourceId} chosen={chosen} copy={copy} onDone={onClose} />
        </>
      }
    >
      <p>{t('tenants.copyHint')}</p>
      <TenantPicker
        label={t('tenants.copySource')}
        id={sourceId}
        exceptId={tenant.id}
        onChange={(id) => {
          setSourceId(id)
          setChosen(new Set())
          copy.reset()
        }}
      />
      {sourceId !== null && (
        <Choice tenant={tenant} sourceId={sourceId} chosen={chosen} onChange={setChosen} />
      )}
      {copy.failed.length > 0 && (
        <Note tone="danger">
          {copy.failed.map(({ name, message }) => (
            <div key={name}>{t('tenants.copyFailed', name, message)}</div>
          ))}
        </Note>
      )}
    </Dialog>
  )
}

/** Pairs the rows of both tenants; only applications that both tenants have can be copied. */
function usePairs(tenant: Tenant, sourceId: string | null) {
  const target = useTenantRows(tenant)
  const source = useTenantRows({ id: sourceId ?? tenant.id, myPermissions: tenant.myPermissions })
  const targets = new Map(target.items?.map((item) => [item.application.id, item]))
  const pairs = source.items?.flatMap((item): Pair[] => {
    const match = targets.get(item.application.id)
    return match === undefined || match.row === null || item.row === null
      ? []
      : [{ source: item, target: match }]
  })
  return {
    pairs: target.items === undefined ? undefined : pairs,
    error: target.error ?? source.error,
    refetch: () => {
      target.refetch()
      source.refetch()
    },
  }
}

type ChoiceProps = {
  tenant: Tenant
  sourceId: string
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}

function Choice({ tenant, sourceId, chosen, onChange }: ChoiceProps): ReactNode {
  const t = useText()
  const { pairs, error, refetch } = usePairs(tenant, sourceId)
  if (pairs === undefined)
    return error === null ? (
      <Skeleton rows={4} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={refetch} />
    )
  if (pairs.length === 0)
    return (
      <State icon="applications" title={t('tenants.copyNothing')}>
        {t('tenants.copyNothingHint')}
      </State>
    )
  const toggle = (id: string, isSelected: boolean): void =>
    onChange(new Set([...chosen].filter((other) => other !== id).concat(isSelected ? [id] : [])))
  return (
    <div className="copy-choice">
      {pairs.map(({ source, target }) => (
        <SectionRow
          key={source.application.id}
          end={
            <>
              {t('tenants.copyBrings', source.settingsCount ?? 0)}
              {(target.settingsCount ?? 0) > 0 && (
                <span className="warn-text">{t('tenants.copyReplaces', target.settingsCount ?? 0)}</span>
              )}
            </>
          }
        >
          <Check
            label={source.application.name}
            isSelected={chosen.has(source.application.id)}
            onChange={(isSelected) => toggle(source.application.id, isSelected)}
          />
        </SectionRow>
      ))}
    </div>
  )
}

type Failed = { readonly name: string; readonly message: string }

/** Copies one application after another. Applications whose copy fails are listed; the others stay copied. */
function useCopy(tenant: Tenant) {
  const t = useText()
  const describe = useChangeText()
  const client = useQueryClient()
  const [progress, setProgress] = useState<number | null>(null)
  const [failed, setFailed] = useState<readonly Failed[]>([])
  const run = async (pairs: readonly Pair[], onDone: () => void): Promise<void> => {
    const failures: Failed[] = []
    setFailed([])
    for (const [index, { source, target }] of pairs.entries()) {
      setProgress(index + 1)
      try {
        await graphql(connection, tenantCopySettingsDocument, {
          input: {
            sourceTenant2ApplicationId: source.row?.id ?? '',
            targetTenant2ApplicationId: target.row?.id ?? '',
            expectedRevision: target.settingsRevision,
          },
        })
      } catch (error) {
        reportError(error)
        const message = describe(describeFailure(error, { isChange: true }))
        failures.push({ name: source.application.name, message })
      }
    }
    setProgress(null)
    setFailed(failures)
    await client.invalidateQueries()
    if (failures.length > 0) return
    showToast(t('tenants.copied', pairs.length, tenant.name))
    onDone()
  }
  return { progress, failed, run, reset: () => setFailed([]) }
}

type CopyButtonProps = {
  tenant: Tenant
  sourceId: string | null
  chosen: ReadonlySet<string>
  copy: ReturnType<typeof useCopy>
  onDone: () => void
}

function CopyButton({ tenant, sourceId, chosen, copy, onDone }: CopyButtonProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const pairs =
    usePairs(tenant, sourceId).pairs?.filter(({ source }) => chosen.has(source.application.id)) ?? []
  return (
    <Button
      variant="primary"
      isPending={copy.progress !== null}
      disabledReason={
        sourceId === null ? t('tenants.copyNoSource') : pairs.length === 0 ? t('tenants.copyNoChoice') : null
      }
      onPress={() => void copy.run(pairs, onDone)}
    >
      {copy.progress === null
        ? t('tenants.copySubmit', pairs.length)
        : t('app.progress', number(copy.progress), number(pairs.length))}
    </Button>
  )
}
