import { visibleParts } from './visible-text.ts'

/** Shows foreign text: as text, isolated in its direction, with hidden characters visible. */
export function Text({ children, className }: { readonly children: string; readonly className?: string }) {
  return (
    <bdi className={className}>
      {visibleParts(children).map(({ text, isHidden }, i) =>
        isHidden ? (
          <span key={i} className="hidden-character" title="A character that is not drawn">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  )
}
