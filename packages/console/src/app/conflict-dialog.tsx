// Resolves a conflict after two people changed the same object. The dialog compares their common base, the saved state
// and the input of this person. Nothing is saved until every field has a decision.
import './conflict-dialog.css'
import { type ReactNode, useId, useState } from 'react'
import type { Failure } from '../api/failures.ts'
import { Badge } from '../kit/badge.tsx'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { ChangeFailure } from './change-failure.tsx'

/** The three versions of a field; null means that the field is not set. */
export type ConflictField = {
  readonly id: string
  readonly label: string
  readonly base: string | null
  readonly theirs: string | null
  readonly yours: string | null
  /** Hides the values, such as passwords, until the person asks for them. */
  readonly isSecret?: boolean
}
type Side = 'theirs' | 'yours'

type ConflictDialogProps = {
  title: string
  /** The person who saved the other change, if the caller may know. */
  changedBy: string | null
  fields: readonly ConflictField[]
  isPending: boolean
  failure: Failure | null
  /** Receives the chosen side of every field that differs. */
  onSave: (sides: ReadonlyMap<string, Side>) => void
  /** Returns to the form and keeps its input. */
  onBack: () => void
  onDiscard: () => void
}

/** Returns the side of a field that only one person changed; null if the person must decide. */
const findSide = ({ base, theirs, yours }: ConflictField): Side | null => {
  if (theirs === base) return 'yours'
  return yours === base ? 'theirs' : null
}

/** Mount it with a new `key` for every conflict, so that old decisions are not applied to new values. */
export function ConflictDialog({
  title,
  changedBy,
  isPending,
  failure,
  ...props
}: ConflictDialogProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [decisions, setDecisions] = useState<ReadonlyMap<string, Side>>(new Map())
  const fields = props.fields.filter(({ theirs, yours }) => theirs !== yours)
  const sideOf = (field: ConflictField): Side | null => findSide(field) ?? decisions.get(field.id) ?? null
  const conflicts = fields.filter((field) => findSide(field) === null).length
  const open = fields.filter((field) => sideOf(field) === null).length
  const name = changedBy ?? t('app.somebody')
  return (
    <Dialog
      title={title}
      width={1216}
      isOpen
      onClose={props.onBack}
      foot={
        <>
          <span className="dialog-question">
            <Button variant="quiet" onPress={props.onDiscard}>
              {t('app.discardMine')}
            </Button>
          </span>
          <Button onPress={props.onBack}>{t('app.backToEditing')}</Button>
          <Button
            variant="primary"
            isPending={isPending}
            disabledReason={open === 0 ? null : t('app.fieldsToDecide', open)}
            onPress={() => {
              const sides = fields.map((field) => [field.id, sideOf(field)] as const)
              props.onSave(new Map(sides.filter((entry): entry is [string, Side] => entry[1] !== null)))
            }}
          >
            {t('app.saveResult')}
          </Button>
        </>
      }
    >
      <p>{t('app.conflictSummary', name, number(conflicts), number(fields.length - conflicts))}</p>
      <table className="conflict-table">
        <thead>
          <tr>
            <th>{t('app.field')}</th>
            <th>{t('app.base')}</th>
            <th>{t('app.theirs')}</th>
            <th>{t('app.yours')}</th>
            <th className="conflict-result">{t('app.result')}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <ConflictRow
              key={field.id}
              field={field}
              side={sideOf(field)}
              onDecide={(side) => setDecisions(new Map(decisions).set(field.id, side))}
            />
          ))}
        </tbody>
      </table>
      <ChangeFailure failure={failure} onReload={props.onDiscard} />
    </Dialog>
  )
}

type RowProps = { field: ConflictField; side: Side | null; onDecide: (side: Side) => void }

function ConflictRow({ field, side, onDecide }: RowProps): ReactNode {
  const t = useText()
  const name = useId()
  const [isShown, setShown] = useState(field.isSecret !== true)
  const isConflict = findSide(field) === null
  const cell = (own: Side): ReactNode => (
    <td data-label={t(`app.${own}`)} data-chosen={side === own ? '' : undefined}>
      {isConflict ? (
        <label className="conflict-choice">
          <input type="radio" name={name} checked={side === own} onChange={() => onDecide(own)} />
          <Value value={field[own]} isShown={isShown} />
        </label>
      ) : (
        <span className="conflict-choice">
          {side === own && <Icon name="check" tone="accent" />}
          {side === own ? <Value value={field[own]} isShown={isShown} /> : t('app.unchanged')}
        </span>
      )}
    </td>
  )
  return (
    <tr>
      <th scope="row">
        <span className="conflict-field">
          {field.label}
          {isConflict && (
            <Badge tone="warn" icon="warning">
              {t('app.conflict')}
            </Badge>
          )}
          {!isShown && (
            <Button size="small" variant="quiet" onPress={() => setShown(true)}>
              {t('app.showSecret')}
            </Button>
          )}
        </span>
      </th>
      <td data-label={t('app.base')} className="muted">
        <Value value={field.base} isShown={isShown} />
      </td>
      {cell('theirs')}
      {cell('yours')}
      <td data-label={t('app.result')} className="conflict-result">
        {side === null ? (
          <span className="conflict-open">
            <Icon name="warning" tone="warn" />
            {t('app.chooseOne')}
          </span>
        ) : (
          <Value value={field[side]} isShown={isShown} />
        )}
      </td>
    </tr>
  )
}

function Value({ value, isShown }: { value: string | null; isShown: boolean }): ReactNode {
  const t = useText()
  if (value === null) return <span className="muted">{t('app.notSet')}</span>
  if (!isShown) return <span aria-label={t('app.hiddenSecret')}>••••••••</span>
  return <div className="conflict-value">{value === '' ? t('app.emptyText') : value}</div>
}
