// The footer while there are unsaved changes, and the dialog that resolves conflicts.
import '../../app/save-bar.css'
import type { ReactNode } from 'react'
import { type ConflictField, ConflictDialog } from '../../app/conflict-dialog.tsx'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type Edit, findSaved, toCellId } from './edits.ts'
import type { Pack } from './pack-types.ts'
import type { Draft } from './use-edits.ts'
import type { Conflict, Save } from './use-save.ts'

type SaveBarProps = {
  draft: Draft
  packs: readonly Pack[]
  save: Save
  /** Called when there are no more changes, because they are saved or discarded. */
  onDone: () => void
}

export function SaveBar({ draft, packs, save, onDone }: SaveBarProps): ReactNode {
  const t = useText()
  const { list, number } = useFormat()
  const { progress, conflict } = save
  const edits = [...draft.edits.values()]
  const names = packs.filter(({ id }) => edits.some(({ packId }) => packId === id)).map(({ name }) => name)
  const run = async (chosen: readonly Edit[]): Promise<void> => {
    const count = await save.run(chosen)
    if (count === null) return
    if (count > 0) showToast(t('languagePacks.saved', count))
    onDone()
  }
  return (
    <div className="save-bar">
      <Icon name="warning" tone="warn" />
      <span className="save-bar-text">
        <strong>{t('languagePacks.unsaved', edits.length)}</strong>{' '}
        <span className="secondary">{list(names)}</span>
      </span>
      <Button
        variant="quiet"
        disabledReason={progress === null ? null : t('languagePacks.saving')}
        onPress={() => {
          save.reset()
          draft.discard()
          onDone()
        }}
      >
        {t('app.discard')}
      </Button>
      <Button variant="primary" isPending={progress !== null} onPress={() => void run(edits)}>
        {progress === null || progress.total <= 1_000
          ? t('kit.save')
          : t('app.progress', number(progress.done), number(progress.total))}
      </Button>
      {conflict !== null && (
        <MergeDialog
          key={conflict.number}
          conflict={conflict}
          draft={draft}
          packs={packs}
          save={save}
          onRun={run}
        />
      )}
    </div>
  )
}

type MergeProps = Pick<SaveBarProps, 'draft' | 'packs' | 'save'> & {
  conflict: Conflict
  onRun: (edits: readonly Edit[]) => Promise<void>
}

function MergeDialog({ conflict, draft, packs, save, onRun }: MergeProps): ReactNode {
  const t = useText()
  const findTheirs = ({ packId, key }: Edit): string | null => findSaved(conflict.contents, packId, key)
  const fields = conflict.edits.map((edit): ConflictField => ({
    id: toCellId(edit.packId, edit.key),
    label: `${edit.key} · ${packs.find(({ id }) => id === edit.packId)?.name ?? ''}`,
    base: edit.base,
    theirs: findTheirs(edit),
    yours: edit.value,
  }))
  return (
    <ConflictDialog
      title={t('languagePacks.conflictTitle')}
      changedBy={conflict.changedBy}
      fields={fields}
      isPending={save.progress !== null}
      failure={save.failure}
      onSave={(sides) => {
        const decided = new Map(
          conflict.edits.map((edit) => [
            edit,
            sides.get(toCellId(edit.packId, edit.key)) === 'yours'
              ? { ...edit, base: findTheirs(edit) }
              : null,
          ]),
        )
        draft.replace(decided)
        const rest = [...draft.edits.values()].map((edit) => {
          const next = decided.get(edit)
          return next === undefined ? edit : next
        })
        void onRun(rest.filter((edit) => edit !== null))
      }}
      onBack={save.reset}
      onDiscard={() => {
        save.reset()
        draft.discard()
      }}
    />
  )
}
