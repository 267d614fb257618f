// The footer of the settings: the number of edits and their reach, and the dialogs that save them.
import '../../app/save-bar.css'
import { type ReactNode, useState } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { type ConflictField, ConflictDialog } from '../../app/conflict-dialog.tsx'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type LayerName, isSecretKey, layerNames, listFields, toCellId } from './layers.ts'
import type { Edit } from './save.ts'
import type { Draft } from './use-draft.ts'
import type { Conflict, Save } from './use-save.ts'
import { ValueText } from './value.tsx'

type SaveBarProps = {
  draft: Draft
  edits: readonly Edit[]
  save: Save
  reach: Readonly<Record<LayerName, string>>
}

export function SaveBar({ draft, edits, save, reach }: SaveBarProps): ReactNode {
  const t = useText()
  const { list } = useFormat()
  const [isReviewing, setReviewing] = useState(false)
  const layers = layerNames.filter((name) => edits.some(({ layer }) => layer === name))
  const finish = (isSaved: boolean, count: number): void => {
    if (!isSaved) return
    setReviewing(false)
    showToast(t('settings.saved', count, list(layers.map((name) => t(`settings.layer.${name}`)))))
  }
  return (
    <div className="save-bar">
      <Icon name="warning" tone="warn" />
      <span className="save-bar-text">
        <strong>{t('settings.unsaved', edits.length)}</strong>{' '}
        <span className="secondary">
          {list(
            layers.map(
              (name) => `${t(`settings.layer.${name}`)}${reach[name] === '' ? '' : ` (${reach[name]})`}`,
            ),
          )}
        </span>
      </span>
      <Button variant="quiet" onPress={draft.discard}>
        {t('app.discard')}
      </Button>
      <Button variant="primary" onPress={() => setReviewing(true)}>
        {t('settings.review')}
      </Button>
      {isReviewing && save.conflict === null && (
        <ReviewDialog
          draft={draft}
          edits={edits}
          save={save}
          reach={reach}
          onClose={() => {
            save.reset()
            setReviewing(false)
          }}
          onSave={() => {
            if (draft.layers !== undefined)
              void save.run(edits, draft.layers).then((isSaved) => finish(isSaved, edits.length))
          }}
        />
      )}
      {save.conflict !== null && (
        <MergeDialog
          key={save.conflict.number}
          conflict={save.conflict}
          draft={draft}
          save={save}
          onMerged={finish}
          onClose={() => setReviewing(false)}
        />
      )}
    </div>
  )
}

type ReviewProps = SaveBarProps & { onClose: () => void; onSave: () => void }

function ReviewDialog({ draft, edits, save, reach, onClose, onSave }: ReviewProps): ReactNode {
  const t = useText()
  return (
    <Dialog
      title={t('settings.reviewTitle', edits.length)}
      width={640}
      isOpen
      onClose={save.isPending ? () => {} : onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('app.backToEditing')}</Button>
          <Button variant="primary" isPending={save.isPending} onPress={onSave}>
            {t('kit.save')}
          </Button>
        </>
      }
    >
      {layerNames.map((name) => {
        const own = edits.filter(({ layer }) => layer === name)
        return (
          own.length > 0 && (
            <section key={name}>
              <h3 className="review-layer">
                {t(`settings.layer.${name}`)} <span className="muted">{reach[name]}</span>
              </h3>
              <ul className="review-list">
                {own.map((edit) => (
                  <ReviewRow
                    key={edit.field.id}
                    edit={edit}
                    before={draft.layers?.[name]?.values.get(edit.field.id) ?? null}
                  />
                ))}
              </ul>
            </section>
          )
        )
      })}
      <ChangeFailure
        failure={save.failure}
        // If the outcome is unknown, the edits are kept. If they were saved, the next attempt compares both sides.
        {...(save.failure?.kind === 'conflict' ? { onReload: draft.discard } : {})}
      />
    </Dialog>
  )
}

function ReviewRow({ edit: { field, value }, before }: { edit: Edit; before: string | null }): ReactNode {
  const t = useText()
  const isHidden = isSecretKey(field.key)
  return (
    <li className="review-row">
      <code className="truncate">{field.key}</code>
      <span className="review-change">
        <del className="review-before">
          <ValueText value={before} isHidden={isHidden} />
        </del>
        <Icon name="chevronRight" size={12} />
        <ins className="review-after">
          {value === null ? t('settings.unsetValue') : <ValueText value={value} isHidden={isHidden} />}
        </ins>
      </span>
    </li>
  )
}

/** Lists every value that at least one side changed. */
function toConflictFields({ base, theirs, edits }: Conflict, t: Translate): ConflictField[] {
  const fields = listFields(theirs, [...listFields(base, []), ...edits.map(({ field }) => field)])
  return layerNames.flatMap((layer) =>
    fields.flatMap((field) => {
      const before = base[layer]?.values.get(field.id) ?? null
      const after = theirs[layer]?.values.get(field.id) ?? null
      const edit = edits.find((entry) => entry.layer === layer && entry.field.id === field.id)
      if (edit === undefined && before === after) return []
      return {
        id: toCellId(layer, field),
        label: `${field.key} · ${t(`settings.layer.${layer}`)}`,
        base: before,
        theirs: after,
        yours: edit === undefined ? before : edit.value,
        isSecret: isSecretKey(field.key),
      }
    }),
  )
}

type MergeProps = {
  conflict: Conflict
  draft: Draft
  save: Save
  onMerged: (isSaved: boolean, count: number) => void
  onClose: () => void
}

function MergeDialog({ conflict, draft, save, onMerged, onClose }: MergeProps): ReactNode {
  const t = useText()
  return (
    <ConflictDialog
      title={t('settings.conflictTitle')}
      changedBy={conflict.changedBy}
      fields={toConflictFields(conflict, t)}
      isPending={save.isPending}
      failure={save.failure}
      onSave={(sides) => {
        const kept = conflict.edits.filter(
          ({ layer, field }) => sides.get(toCellId(layer, field)) === 'yours',
        )
        draft.rebase(conflict.theirs, kept)
        void save.run(kept, conflict.theirs).then((isSaved) => onMerged(isSaved, kept.length))
      }}
      onBack={() => {
        save.reset()
        onClose()
      }}
      onDiscard={() => {
        save.reset()
        draft.discard()
        onClose()
      }}
    />
  )
}
