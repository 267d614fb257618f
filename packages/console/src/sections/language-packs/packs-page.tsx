// The translations of a project: keys and locales in a grid that is edited like a spreadsheet.
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { LeaveGuard } from '../../app/leave-guard.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useCan, useMay } from '../../app/project.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import type { Change } from './edits.ts'
import { NoRows } from './no-rows.tsx'
import { PackActions } from './pack-actions.tsx'
import { type OpenDialog, PackDialogs } from './pack-dialogs.tsx'
import { PackFilters } from './pack-filters.tsx'
import { PackGrid } from './pack-grid.tsx'
import { PackPanel } from './pack-panel.tsx'
import type { Contents, Pack } from './pack-types.ts'
import { type Row, choosePacks, filterRows, listRows } from './rows.ts'
import { SaveBar } from './save-bar.tsx'
import { type Draft, useEdits } from './use-edits.ts'
import type { ActiveCell } from './use-grid.ts'
import { useContents, usePackList } from './use-packs.ts'
import { type Save, useSave } from './use-save.ts'

export function LanguagePacksPage(): ReactNode {
  const t = useText()
  return useCan('LANGUAGE_PACK_READ') ? (
    <Packs />
  ) : (
    <Page title={t('section.languagePacks')}>
      <State icon="lock" title={t('languagePacks.noAccess')}>
        {t('languagePacks.noAccessHint')}
      </State>
    </Page>
  )
}

const noPacks: readonly Pack[] = []

/** Reads the shown packs, and packs with edits, which may be hidden. */
function usePacks(list: ListSearch) {
  const { packs, error: listError, refetch: refetchList } = usePackList()
  const [editedIds, setEditedIds] = useState<ReadonlySet<string>>(new Set())
  const all = packs ?? noPacks
  const names = list.search['locales']
  const openId = list.open
  const shown = useMemo(() => choosePacks(all, names, openId), [all, names, openId])
  const read = useMemo(
    () => all.filter((pack) => shown.includes(pack) || editedIds.has(pack.id)),
    [all, shown, editedIds],
  )
  const { contents, error, refetch } = useContents(read)
  const draft = useEdits(contents)
  const change = (changes: readonly Change[]): void => {
    setEditedIds((previous) => new Set([...previous, ...changes.map(({ packId }) => packId)]))
    draft.change(changes)
  }
  return {
    packs,
    shown,
    contents,
    draft: { ...draft, change },
    error: listError ?? error,
    refetch: () => {
      refetchList()
      refetch()
    },
  }
}

function useRows(list: ListSearch, shown: readonly Pack[], contents: Contents, draft: Draft) {
  const text = list.search['q'] ?? ''
  const show = list.search['show']
  const { edits, newKeys } = draft
  const all = useMemo(() => listRows(shown, contents, newKeys), [shown, contents, newKeys])
  const rows = useMemo(
    () => filterRows(all, { text, show }, { packs: shown, contents, edits }),
    [all, text, show, shown, contents, edits],
  )
  return { all, rows }
}

/**
 * Returns a function that shows all rows again if only unsaved changes were shown, and moves the focus to the grid. The
 * buttons that had the focus disappear with the last change.
 */
function useReturnToGrid(list: ListSearch, grid: RefObject<HTMLElement | null>): () => void {
  const isDue = useRef(false)
  // The grid can be missing until the rows are shown again.
  useEffect(() => {
    if (!isDue.current || grid.current === null) return
    isDue.current = false
    if (document.activeElement === document.body) grid.current.focus({ preventScroll: true })
  })
  return () => {
    grid.current?.focus({ preventScroll: true })
    if (list.search['show'] !== 'edited') return
    isDue.current = true
    list.setFilter({ show: undefined })
  }
}

function Packs(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const { packs, shown, contents, draft, error, refetch } = usePacks(list)
  const { all, rows } = useRows(list, shown, contents, draft)
  const save = useSave(draft)
  const grid = useRef<HTMLTableElement>(null)
  const returnToGrid = useReturnToGrid(list, grid)
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [active, setActive] = useState<ActiveCell | null>(null)
  const isLoaded = packs !== undefined && shown.every(({ id }) => contents.has(id))
  const hasPacks = packs !== undefined && packs.length > 0
  const state = { packs, shown, contents, all, rows, draft, save, list, grid, active, setActive }
  return (
    <Page
      title={t('section.languagePacks')}
      isEdgeToEdge
      note={isLoaded && hasPacks && t('languagePacks.size', all.length, packs.length)}
      actions={<PackActions packs={packs} shown={shown} contents={contents} onOpen={setDialog} />}
      filters={hasPacks ? <PackFilters list={list} packs={packs} shown={shown} /> : undefined}
      foot={
        draft.edits.size > 0 && (
          <SaveBar draft={draft} packs={packs ?? noPacks} save={save} onDone={returnToGrid} />
        )
      }
      panel={list.open !== null && <Panel id={list.open} {...state} />}
    >
      {error !== null && !isLoaded ? (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      ) : packs === undefined || (!isLoaded && all.length === 0) ? (
        <div className="pack-waiting">
          <Skeleton rows={12} />
        </div>
      ) : !hasPacks || rows.length === 0 ? (
        <NoRows list={list} hasPacks={hasPacks} hasKeys={all.length > 0} onNewKey={() => setDialog('key')} />
      ) : (
        <FilledGrid {...state} />
      )}
      <Unsaved {...state} />
      <PackDialogs
        dialog={dialog}
        packs={packs ?? noPacks}
        rows={all}
        list={list}
        onClose={() => setDialog(null)}
        onChange={draft.change}
        onAddKey={(key) => {
          draft.addKey(key)
          setActive({ key, packId: shown[0]?.id ?? '', row: 0 })
        }}
      />
    </Page>
  )
}

type PacksState = {
  packs: readonly Pack[] | undefined
  shown: readonly Pack[]
  contents: Contents
  all: readonly Row[]
  rows: readonly Row[]
  draft: Draft
  save: Save
  list: ListSearch
  grid: RefObject<HTMLTableElement | null>
  active: ActiveCell | null
  setActive: (active: ActiveCell) => void
}

function FilledGrid({ shown, all, rows, contents, draft, save, list, ...state }: PacksState): ReactNode {
  const canChange = useMay('languagePacks.change')
  return (
    <PackGrid
      grid={state.grid}
      packs={shown}
      rows={rows}
      allRows={all}
      contents={contents}
      draft={draft}
      active={state.active}
      onActive={state.setActive}
      canChange={canChange && save.progress === null}
      openId={list.open}
      onOpen={(id) => list.setOpen(id === list.open ? null : id)}
    />
  )
}

const Panel = ({ id, packs, all, contents, draft, list }: PacksState & { id: string }): ReactNode => (
  <PackPanel key={id} id={id} packs={packs} rows={all} contents={contents} edits={draft.edits} list={list} />
)

/** The failure of the last attempt to save, and the question before unsaved changes are lost. */
function Unsaved({ draft, save }: PacksState): ReactNode {
  const t = useText()
  return (
    <>
      {save.failure !== null && (
        <div className="pack-failure">
          <ChangeFailure failure={save.failure} onReload={save.reset} />
        </div>
      )}
      <LeaveGuard
        isDirty={draft.edits.size > 0}
        title={t('languagePacks.leaveTitle', draft.edits.size)}
        hint={t('languagePacks.leaveHint')}
      />
    </>
  )
}
