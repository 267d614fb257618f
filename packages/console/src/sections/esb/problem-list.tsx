// The problems of the template. A position leads to its line in the editor.
import type { ReactNode } from 'react'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'
import type { TemplateProblem } from './template-problems.ts'

type ProblemListProps = {
  problems: readonly TemplateProblem[]
  /** Whether the problems belong to the current text. */
  isChecked: boolean
  onJump: (position: NonNullable<TemplateProblem['position']>) => void
}

export function ProblemList({ problems, isChecked, onJump }: ProblemListProps): ReactNode {
  const t = useText()
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const warnings = problems.length - errors
  return (
    <section className="template-problems" aria-label={t('esb.problems')}>
      <p className="template-problem-count" role="status">
        {errors > 0 && t('esb.countErrors', errors)}
        {errors > 0 && warnings > 0 && ', '}
        {warnings > 0 && t('esb.countWarnings', warnings)}
        {problems.length === 0 && isChecked && t('esb.noProblems')}
      </p>
      <ul className="template-problem-list">
        {problems.map(({ severity, message, position }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- problems have no other identity
          <li key={index} className="template-problem">
            <Icon
              name={severity === 'error' ? 'danger' : 'warning'}
              tone={severity === 'error' ? 'danger' : 'warn'}
            />
            <span className="visually-hidden">{t(`esb.severity.${severity}`)}</span>
            {position !== null && (
              <Button variant="link" onPress={() => onJump(position)}>
                {t('esb.position', `${position.line}:${position.column}`)}
              </Button>
            )}
            <span className="template-problem-text">{message}</span>
          </li>
        ))}
      </ul>
      <span className="muted">{t('esb.previewNote')}</span>
    </section>
  )
}
