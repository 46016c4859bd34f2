//! Reads the safetensors format: a JSON directory of tensors, then their bytes.

use serde_json::Value;

use super::DistillError;

/// The tensors of a file.
pub(super) struct Tensors<'a> {
    directory: Value,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Reads the directory: its length as a little-endian `u64`, the JSON, then the data.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, DistillError> {
        let parts = (|| {
            let (length, rest) = bytes.split_first_chunk::<8>()?;
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
        })();
        let (directory, data) = parts.ok_or_else(|| problem("the file is cut short"))?;
        let directory = serde_json::from_slice(directory).map_err(|error| problem(&error.to_string()))?;
        Ok(Self { directory, data })
    }

    /// The values of an `f32` tensor, which must have this shape.
    pub(super) fn f32(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, DistillError> {
        let entry = &self.directory[name];
        let expected = Value::from(shape);
        if entry["dtype"] != "F32" || entry["shape"] != expected {
            return Err(problem(&format!("{name} is not F32 {expected}")));
        }
        let offset = |at: usize| entry["data_offsets"][at].as_u64().and_then(|n| usize::try_from(n).ok());
        let bytes = offset(0).zip(offset(1)).and_then(|(start, end)| self.data.get(start..end));
        let bytes = bytes.filter(|bytes| bytes.len() == 4 * shape.iter().product::<usize>());
        let bytes = bytes.ok_or_else(|| problem(&format!("{name} lies outside the file")))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
    }
}

fn problem(text: &str) -> DistillError {
    DistillError::Weights(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(directory: &str, values: &[f32]) -> Vec<u8> {
        let mut bytes = (directory.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(directory.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    #[test]
    fn a_tensor_is_read_when_type_shape_and_place_are_right() {
        let bytes = file(r#"{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]}}"#, &[9.0, 1.5, -2.0]);
        let tensors = Tensors::parse(&bytes).unwrap();
        assert_eq!(tensors.f32("a", &[1, 2]).unwrap(), [1.5, -2.0]);
        assert!(tensors.f32("a", &[2]).is_err() && tensors.f32("b", &[1, 2]).is_err());
    }

    #[test]
    fn files_that_contradict_themselves_are_refused() {
        assert!(Tensors::parse(&[1, 2, 3]).is_err());
        assert!(Tensors::parse(&u64::MAX.to_le_bytes()).is_err());
        assert!(Tensors::parse(&file("{", &[])).is_err());
        for directory in [
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#,
            r#"{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#,
        ] {
            assert!(Tensors::parse(&file(directory, &[1.0, 2.0])).unwrap().f32("a", &[2]).is_err());
        }
    }
}
