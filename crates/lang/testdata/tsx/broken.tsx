export const First = () => <div>ok</div>;

export const Second = () => {
  return <div><span></div>;
};

function third(): number {
  return 3;
}
