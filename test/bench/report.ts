/** One measured row of the table. */
export interface Figure {
  row: string;
  what: string;
  unit: string;
  /** One per repetition. */
  runs: readonly number[];
  must?: number;
  aim?: number;
  /** Smaller is better. */
  atMost?: true;
  /** Decimals to print. */
  digits?: number;
  /** What a reader should know beside the number. */
  note?: string;
}

/** The median, and the extremes beside it. */
export function spread(runs: readonly number[]): { min: number; median: number; max: number } {
  const sorted = [...runs].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { min: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, max: at(sorted.length - 1) };
}

/** `aim` and `must` say what was reached, `below` that the figure misses what it must reach; empty when nothing is asked of it. */
export function verdict({ runs, must, aim, atMost }: Figure): 'aim' | 'must' | 'below' | '' {
  const { median } = spread(runs);
  const reaches = (bound: number | undefined) => bound !== undefined && (atMost ? median <= bound : median >= bound);
  if (reaches(aim)) return 'aim';
  if (must === undefined) return '';
  return reaches(must) ? 'must' : 'below';
}

/** The figures as a table for a terminal. */
export function table(figures: readonly Figure[]): string {
  const lines = figures.map((figure) => {
    const { min, median, max } = spread(figure.runs);
    const show = (value: number | undefined) => (value === undefined ? '' : number(value, figure.digits));
    const range = figure.runs.length > 1 ? `${show(min)} – ${show(max)}` : '';
    return [figure.what, show(median), figure.unit, range, show(figure.must), show(figure.aim), verdict(figure)];
  });
  const rows = [['what', 'median', '', 'spread', 'must', 'aim', 'reached'], ...lines];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const isNumber = (column: number) => column === 1 || column === 4 || column === 5;
  const printed = rows.map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  const notes = figures.flatMap(({ what, note }) => (note ? [`${what}: ${note}`] : []));
  return [
    printed[0],
    '-'.repeat(printed[0]!.length),
    ...printed.slice(1),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

export const number = (value: number, digits = 0): string =>
  value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
