// The settings of an application in a tenant: four layers, the effective value, and editing in place.
import './settings.css'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { usePickedApplication, usePickedTenant } from '../../app/in-project.ts'
import { LeaveGuard } from '../../app/leave-guard.tsx'
import { useListSearch } from '../../app/list-search.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { settingsEffectiveDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useWidth } from '../../kit/use-width.ts'
import { useText } from '../../texts/language.tsx'
import { focusCell } from './focus-cell.ts'
import {
  type Edits,
  type Field,
  type LayerName,
  type Layers,
  type Part,
  type Row,
  createField,
  createRow,
  isSecretKey,
  layerNames,
  listFields,
  toCellId,
  toEffective,
} from './layers.ts'
import { useReach } from './reach.ts'
import { listEdits } from './save.ts'
import { SaveBar } from './save-bar.tsx'
import { CompareWith, SettingsFilters } from './settings-filters.tsx'
import { SettingsList } from './settings-list.tsx'
import { type Comparison, type LayerHead, SettingsTable, useCells } from './settings-table.tsx'
import { type Draft, useDraft } from './use-draft.ts'
import { type LayersRead, useLayers } from './use-layers.ts'
import { useSave } from './use-save.ts'

const narrow = 720
const objectParameters = ['application', 'tenant']
const parts: readonly Part[] = ['frontend', 'backend']

export function SettingsPage(): ReactNode {
  const t = useText()
  const project = useProject()
  const list = useListSearch()
  const applicationId = list.search['application'] ?? null
  const tenantId = list.search['tenant'] ?? null
  const picked = { tenant: usePickedTenant(tenantId), application: usePickedApplication(applicationId) }
  const pickError = picked.tenant.error ?? picked.application.error
  const read = useLayers(
    project.id,
    pickError === null ? applicationId : null,
    pickError === null ? tenantId : null,
  )
  const draft = useDraft(read.layers)
  const save = useSave(draft, read)
  const [added, setAdded] = useState<readonly Field[]>([])
  const heads = useHeads(applicationId, tenantId, read)
  const fields = draft.layers === undefined ? [] : listFields(draft.layers, added)
  const edits = listEdits(draft.edits, fields)
  const names = {
    application: applicationId === null ? null : heads.application.subtitle,
    tenant: tenantId === null ? null : heads.tenant.subtitle,
  }
  const reach = useReach({ application: applicationId, tenant: tenantId }, names, edits.length > 0)
  // A different application or tenant has different layers. The guard has already asked about unsaved edits.
  const { discard } = draft
  useFocusAfterEdits(draft.edits)
  useEffect(() => {
    setAdded([])
    return discard
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a change of the objects resets the page
  }, [applicationId, tenantId])
  return (
    <Page
      title={t('section.settings')}
      isEdgeToEdge
      actions={<CompareWith list={list} />}
      filters={<SettingsFilters list={list} />}
      foot={edits.length > 0 && <SaveBar draft={draft} edits={edits} save={save} reach={reach} />}
    >
      <LeaveGuard
        isDirty={edits.length > 0}
        objectParameters={objectParameters}
        title={t('settings.leaveTitle', edits.length)}
        hint={t('settings.leaveHint')}
      />
      {pickError !== null && <FailureState failure={describeFailure(pickError)} />}
      {read.failure !== null && read.layers === undefined && draft.layers === undefined && (
        <FailureState failure={read.failure} onRetry={() => void read.refetch().catch(() => {})} />
      )}
      {read.failure === null && draft.layers === undefined && (
        <div className="settings-loading">
          <Skeleton rows={8} />
        </div>
      )}
      {pickError === null && draft.layers !== undefined && (
        <SettingsView
          layers={draft.layers}
          draft={draft}
          fields={fields}
          heads={heads}
          onAddKey={(part, key) => setAdded((known) => [...known, createField(part, key)])}
          added={added}
        />
      )}
    </Page>
  )
}

/**
 * The save bar disappears with the last edit. If it had the focus, the focus moves to the cell that was edited last.
 */
function useFocusAfterEdits(edits: Edits): void {
  const lastCell = useRef<string | null>(null)
  useEffect(() => {
    const cellId = [...edits.keys()].at(-1) ?? null
    if (cellId === null && lastCell.current !== null && document.activeElement === document.body)
      focusCell(lastCell.current)
    lastCell.current = cellId
  }, [edits])
}

/** The title of each layer, and why it cannot be edited. */
function useHeads(
  applicationId: string | null,
  tenantId: string | null,
  { pair, layers }: LayersRead,
): Readonly<Record<LayerName, LayerHead>> {
  const t = useText()
  const project = useProject()
  const canWrite = useMay('settings.change')
  const { item: application } = usePickedApplication(applicationId)
  const { item: tenant } = usePickedTenant(tenantId)
  const locked = canWrite ? null : t('settings.mayNotWrite')
  const create = (name: LayerName, subtitle: string, problem: string | null): LayerHead => ({
    name,
    subtitle: problem ?? subtitle,
    lockedReason: problem ?? locked,
    isChosen: problem === null,
    settingsId: layers?.[name]?.settingsId ?? null,
  })
  const noApplication = applicationId === null ? t('settings.chooseApplication') : null
  const noTenant = tenantId === null ? t('settings.chooseTenant') : null
  const noPair = noApplication !== null && noTenant !== null ? t('settings.chooseBoth') : null
  return {
    project: create('project', project.name, null),
    application: create('application', application?.name ?? '', noApplication),
    tenant: create('tenant', tenant?.name ?? '', noTenant),
    tenant2application: create(
      'tenant2application',
      pair?.enabled === false ? t('settings.pairDisabled') : t('settings.mostSpecific'),
      noPair ?? noApplication ?? noTenant ?? (pair === null ? t('settings.noPair') : null),
    ),
  }
}

const matches = (row: Row, text: string): boolean => {
  if (row.field.key.toLowerCase().includes(text)) return true
  if (isSecretKey(row.field.key)) return false
  return layerNames.some((name) => row.values[name]?.toLowerCase().includes(text) === true)
}

type ViewProps = {
  layers: Layers
  draft: Draft
  fields: readonly Field[]
  added: readonly Field[]
  heads: Readonly<Record<LayerName, LayerHead>>
  onAddKey: (part: Part, key: string) => void
}

function SettingsView({ layers, draft, fields, added, heads, onAddKey }: ViewProps): ReactNode {
  const t = useText()
  const { search, setFilter } = useListSearch()
  const cells = useCells()
  const comparison = useComparison()
  const [element, setElement] = useState<HTMLElement | null>(null)
  const width = useWidth(element)
  const text = (search['q'] ?? '').toLowerCase()
  const showsUnset = search['unset'] !== undefined
  const rows = fields
    .map((field) => createRow(field, layers, draft.edits))
    .filter(
      (row) => row.winner !== null || row.savedEffective !== null || showsUnset || added.includes(row.field),
    )
    .filter((row) => text === '' || matches(row, text))
  if (rows.length === 0 && text !== '')
    return (
      <State
        icon="search"
        title={t('settings.noMatch')}
        actions={<Button onPress={() => setFilter({ q: undefined })}>{t('settings.clearSearch')}</Button>}
      >
        {t('settings.noMatchHint')}
      </State>
    )
  const View = (width ?? 0) < narrow ? SettingsList : SettingsTable
  return (
    <div className="settings-view" ref={setElement}>
      {width !== null && (
        <View
          heads={heads}
          parts={parts.map((part) => ({ part, rows: rows.filter(({ field }) => field.part === part) }))}
          comparison={comparison}
          hidesOverridden={search['overridden'] === 'hidden'}
          isEdited={(layer, row) => draft.edits.has(toCellId(layer, row.field))}
          onEdit={(layer, row, value) => draft.edit(layer, row.field, value)}
          onUndo={(layer, row) => draft.undo(layer, row.field)}
          onAddKey={onAddKey}
          cells={cells}
        />
      )}
    </div>
  )
}

/** The effective values of the tenant to compare with. */
function useComparison(): Comparison | null {
  const t = useText()
  const { search } = useListSearch()
  const { application, compare } = search
  const isEnabled = application !== undefined && compare !== undefined
  const { item: tenant } = usePickedTenant(isEnabled ? compare : null)
  const { data, error } = useRead(
    settingsEffectiveDocument,
    { application: application ?? '', tenant: compare ?? '' },
    { isEnabled, isSensitive: true },
  )
  if (!isEnabled) return null
  return {
    name: tenant?.name ?? '',
    note:
      error !== null && describeFailure(error).kind === 'notFound'
        ? t('settings.noPair')
        : t('settings.comparedTenant'),
    hasValues: error === null,
    values: data === undefined ? undefined : toEffective(data.effectiveSettings),
  }
}
