// A cell of the matrix. On, off and "never added" have different shapes; a marked change has a frame and a sign.
import type { ReactNode } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { AccessRow } from './access-data.ts'
import type { Mark } from './access-marks.ts'

type AccessCellProps = {
  id: string
  isActive: boolean
  /** False while the rows for the tenant are loading. */
  isKnown: boolean
  row: AccessRow | null
  mark: Mark | null
  onPress: () => void
}

export function AccessCell({ id, isActive, isKnown, row, mark, onPress }: AccessCellProps): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- the grid handles the keys of its active cell
    <td
      id={id}
      className="access-cell"
      data-active={isActive ? '' : undefined}
      data-marked={mark === null ? undefined : mark.problem === null ? 'yes' : 'failed'}
      onClick={onPress}
    >
      {isKnown ? <CellContent row={row} mark={mark} /> : <CellSkeleton />}
    </td>
  )
}

function CellContent({ row, mark }: Pick<AccessCellProps, 'row' | 'mark'>): ReactNode {
  const t = useText()
  if (mark !== null)
    return (
      <span className="access-mark">
        <Icon name={mark.isOn ? 'add' : 'minusSign'} size={12} />
        {mark.isOn ? t('access.on') : t('access.off')}
      </span>
    )
  if (row === null)
    return (
      <span className="muted">
        <span aria-hidden="true">–</span>
        <span className="visually-hidden">{t('access.none')}</span>
      </span>
    )
  return (
    <>
      {row.enabled ? (
        <>
          <Icon name="check" tone="ok" />
          <span className="visually-hidden">{t('access.on')}</span>
        </>
      ) : (
        <span className="access-off">{t('access.off')}</span>
      )}
      {row.settingsCount > 0 && <OwnCount count={row.settingsCount} />}
    </>
  )
}

/** The number of values that the cell sets itself, instead of inheriting them from other layers. */
function OwnCount({ count }: { count: number }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return (
    <span className="access-own">
      <span aria-hidden="true">≠ {number(count)}</span>
      <span className="visually-hidden">{t('access.ownCount', count)}</span>
    </span>
  )
}
