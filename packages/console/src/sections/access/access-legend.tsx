// Explains the signs in the matrix.
import type { ReactNode } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'

export function AccessLegend({ canChange }: { canChange: boolean }): ReactNode {
  const t = useText()
  return (
    <span className="access-legend">
      <span className="access-legend-item">
        <Icon name="check" tone="ok" /> {t('access.on')}
      </span>
      <span className="access-legend-item">
        <span className="access-off">{t('access.off')}</span> {t('access.legendOff')}
      </span>
      <span className="access-legend-item">– {t('access.none')}</span>
      <span className="access-legend-item">
        <span className="access-own">≠ 4</span> {t('access.legendOwn')}
      </span>
      <span className="access-legend-item">{canChange ? t('access.marks') : t('access.readOnly')}</span>
    </span>
  )
}
